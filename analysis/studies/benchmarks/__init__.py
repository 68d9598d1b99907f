"""LongBench Pro and RULER scores compared with plasticity."""
