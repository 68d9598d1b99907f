"""Trace a printed number, a cell or a verdict to a line of a source or the command of a measurement."""
