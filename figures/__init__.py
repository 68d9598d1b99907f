"""Figures of the thesis: one file per figure, in one folder per topic."""
