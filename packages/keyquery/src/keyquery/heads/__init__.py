"""Geometry of attention heads on plain arrays: combined PCA, planar rotation, attention plasticity."""
