"""Captures: draw, write, describe, publish and read queries and keys of a model's heads."""
