"""Analyses of SmolLM3's checkpoints."""
