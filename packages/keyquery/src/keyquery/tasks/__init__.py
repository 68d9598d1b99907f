"""Tasks: items, parsing of answers, and English items and texts."""
