"""What stands across the stories: models, captures, analyses, effects."""
