"""Comparisons of the captured models."""
