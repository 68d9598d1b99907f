"""Compare LongBench Pro and RULER scores with plasticity."""
