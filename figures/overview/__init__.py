"""Figures that summarize all chapters: models, captures, analyses, effects."""
