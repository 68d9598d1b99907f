"""Annotate a reader's copies of the judged documents: colour each statement by its verdict."""

from boundpaper.paper.annotate.build import annotate

__all__ = ["annotate"]
