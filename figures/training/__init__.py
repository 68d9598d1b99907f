"""Training checkpoints of SmolLM3."""
