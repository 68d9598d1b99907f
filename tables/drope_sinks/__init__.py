"""Models with and without rotary positions: attention sinks; outputs removed at the first token or in layer 1."""
