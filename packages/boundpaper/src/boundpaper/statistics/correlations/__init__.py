"""Correlate variables: coefficients, intervals and tests, partial correlations, and comparisons of two correlations."""
