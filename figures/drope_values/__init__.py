"""Models with and without rotary positions: massive values, their disruption, and knowledge tasks."""
