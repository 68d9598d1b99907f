"""From a name, a folder or a file to a loaded model: what is known of it before, and why it could not be loaded."""
