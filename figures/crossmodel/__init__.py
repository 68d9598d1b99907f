"""Figures that compare the captured models."""
