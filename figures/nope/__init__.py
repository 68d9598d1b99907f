"""Layers without position encoding."""
