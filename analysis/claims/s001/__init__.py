"""Claims on document 001."""
