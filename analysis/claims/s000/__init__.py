"""Claims on document 000."""
