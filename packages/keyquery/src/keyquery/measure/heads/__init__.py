"""Analysis of a capture's heads, in parallel, written as tables."""
