"""Claims on document 004: what heads attend to, layer 1, and retrieval by length."""
