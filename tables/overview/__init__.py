"""Tables that cover all chapters: models, captures, analyses, effects."""
