"""Analyse a capture's heads in parallel, and write the results as tables."""
