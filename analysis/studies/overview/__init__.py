"""Results that several chapters share: models, captures, analyses, effects."""
