"""Draw, write, describe, publish and read captures of queries and keys of a model's heads."""
