"""Models with and without rotary positions: attention sinks, and the first token with and without its outputs."""
