"""Annotate a reader's copies of the judged documents, with each statement in the colour of its verdict."""

from boundpaper.paper.annotate.build import annotate

__all__ = ["annotate"]
