"""Figures of Delta P over the layers of measured models."""
