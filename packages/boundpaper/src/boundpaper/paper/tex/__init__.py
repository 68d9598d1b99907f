"""LaTeX as a program: its calls, formats and log, and what it made, seen as pages and pictures."""
