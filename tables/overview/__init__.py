"""Tables that summarize all chapters: models, captures, analyses, effects."""
