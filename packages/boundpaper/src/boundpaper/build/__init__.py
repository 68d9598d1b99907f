"""The build: the graph of steps, the engine that makes them, and the programs that it runs."""
