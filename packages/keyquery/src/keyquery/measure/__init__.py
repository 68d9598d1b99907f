"""Measure: open models and captures, run experiments on them, and write tidy rows."""
