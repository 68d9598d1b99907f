"""Tables of the thesis: one file per table, in one folder per topic."""
