"""With and without rotary positions: what heads attend to, layer 1, and retrieval by length."""
