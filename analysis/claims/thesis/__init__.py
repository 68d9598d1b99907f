"""Claims of the thesis itself."""
