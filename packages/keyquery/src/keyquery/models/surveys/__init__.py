"""Measure a model's internals in one forward pass of each text."""
