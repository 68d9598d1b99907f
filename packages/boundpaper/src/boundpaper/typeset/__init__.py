"""Typesetting: numbers and text as every format shows them."""
