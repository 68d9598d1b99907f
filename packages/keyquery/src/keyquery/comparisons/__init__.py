"""Measured models held against each other: paired where rows allow it, tested exactly, corrected as one family."""
