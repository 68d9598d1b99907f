"""Build a paper: read the graph of steps, run the steps, and start other programs."""
