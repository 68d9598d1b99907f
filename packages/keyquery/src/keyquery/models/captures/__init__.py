"""Captures: queries and keys of a model's heads drawn, written, described, sent and read."""
