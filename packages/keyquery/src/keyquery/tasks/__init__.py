"""Tasks: items, answers, and the English that the items are written in."""
