"""Surveys: measurements of a model's internals in one forward pass of one text."""
