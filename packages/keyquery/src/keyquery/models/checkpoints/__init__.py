"""Load a model from a name, a folder or a file; estimate its memory before loading, and explain failures."""
