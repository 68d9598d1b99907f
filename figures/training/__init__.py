"""Figures of SmolLM3's training checkpoints."""
