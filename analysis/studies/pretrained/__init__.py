"""Measurements of pretrained models from other groups."""
