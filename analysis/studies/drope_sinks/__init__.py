"""Compare attention sinks, the first token, and the cost of ablating them, with and without rotary positions."""
