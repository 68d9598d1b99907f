"""Analyses: statistics, studies and claims; each room says what it holds."""
