"""Benchmarks: answers of a model in, scores as measurements out."""
