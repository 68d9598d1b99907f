"""LongBench Pro and RULER beside plasticity."""
