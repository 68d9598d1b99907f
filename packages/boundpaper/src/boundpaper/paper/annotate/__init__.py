"""Annotated sources: a reader's own copies of the judged documents, each statement coloured by its verdict."""

from boundpaper.paper.annotate.build import annotate

__all__ = ["annotate"]
