"""The store: reads, checks, writes and compares artifacts, and knows documents and families."""
