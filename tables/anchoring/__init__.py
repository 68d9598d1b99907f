"""Delta P by layer: statements of the documents, and measurements of this project."""
