"""Benchmarks: turn answers of a model into scores, stored as measurements."""
