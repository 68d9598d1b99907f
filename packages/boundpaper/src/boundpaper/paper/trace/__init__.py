"""Trace: from a printed number, a cell or a verdict down to the line of a source or the command of a measurement."""
