"""Typeset numbers and text consistently in every format."""
