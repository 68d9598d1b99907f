"""Find contradictions within a document, between its tables, figure code and sentences."""
