"""Claims on document 004."""
