"""What several stories share: models, captures, analyses, effects."""
