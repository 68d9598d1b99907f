"""Models with and without rotary positions: attention sinks, and the removal of outputs at the first token."""
