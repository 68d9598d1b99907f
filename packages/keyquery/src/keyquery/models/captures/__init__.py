"""Draw heads of a model, and write, describe, publish and read captures of their queries and keys."""
