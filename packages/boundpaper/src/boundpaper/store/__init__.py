"""The store: artifacts read, checked, written and compared, and what is known of documents and families."""
