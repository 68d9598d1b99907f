"""Surveys: what one forward of one text leaves of a model's insides."""
