"""Annotate a reader's own copies of the judged documents: each statement is coloured by its verdict."""

from boundpaper.paper.annotate.build import annotate

__all__ = ["annotate"]
