"""Analyse layers without position encoding."""
