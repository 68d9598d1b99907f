"""Tabulate models that this project measured, in the columns of the reported ones."""
