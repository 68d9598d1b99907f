"""Analyses of the thesis: statistics, studies and claims; each subfolder says what it contains."""
