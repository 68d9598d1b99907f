"""Compare attention patterns, layer 1, and retrieval by length, with and without rotary positions."""
