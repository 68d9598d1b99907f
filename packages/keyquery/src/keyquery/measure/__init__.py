"""Measuring: models and captures opened, experiments run on them, tidy rows written."""
