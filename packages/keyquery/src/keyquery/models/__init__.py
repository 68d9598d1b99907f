"""Models: loading, capture of queries and keys, and what is known about an architecture; the only room with torch."""
