"""Surveys: measurements of a model's internals in one forward of one text."""
