"""The language of the small models: its world, words, documents, items and tokenizer."""
