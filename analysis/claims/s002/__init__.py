"""Claims on document 002."""
