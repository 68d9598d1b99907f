"""Tasks: items, answers, and the English that they are asked in."""
