"""Build a paper: the graph of steps, the engine that runs them, and the programs that it starts."""
