"""Load a model from a name, a folder or a file; estimate it before, and explain why it could not be loaded."""
