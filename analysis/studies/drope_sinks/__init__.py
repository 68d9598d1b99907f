"""Compare attention sinks, the first token, and losses without them, with and without rotary positions."""
