"""With and without rotary positions: attention sinks, the first token, and what is lost without them."""
