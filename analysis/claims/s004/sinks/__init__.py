"""Claims on document 004: attention sinks, the first token, and what is lost without them."""
