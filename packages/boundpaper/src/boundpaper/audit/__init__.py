"""Find contradictions between the tables, figure code and sentences of a document."""
