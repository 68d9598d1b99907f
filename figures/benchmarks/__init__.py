"""Figures of LongBench Pro and RULER scores beside plasticity."""
