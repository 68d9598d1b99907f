"""keyquery: queries and keys of language models, captured, analysed and intervened on."""

__version__ = "0.2.0"
