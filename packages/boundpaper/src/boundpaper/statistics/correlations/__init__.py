"""Correlations: coefficients, their intervals and tests, something held fixed, and two of them compared."""
