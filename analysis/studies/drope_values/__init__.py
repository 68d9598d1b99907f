"""Compare massive values, their disruption, and knowledge, with and without rotary positions."""
