"""Analyse SmolLM3's checkpoints."""
