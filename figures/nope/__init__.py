"""Figures of layers without position encoding."""
