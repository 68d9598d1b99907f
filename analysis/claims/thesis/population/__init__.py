"""Claims of the thesis on its population of small models."""
