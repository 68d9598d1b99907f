"""Load models, capture queries and keys, and describe architectures; only this package imports torch."""
