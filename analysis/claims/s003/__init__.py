"""Claims on document 003."""
