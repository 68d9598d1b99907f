"""Typeset numbers and text, in the same way for every format."""
