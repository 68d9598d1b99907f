"""Models with and without rotary positions: attention patterns, layer 1, and retrieval by length."""
