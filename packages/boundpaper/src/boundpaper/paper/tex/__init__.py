"""LaTeX as a program: its calls, formats and log, and its output as pages and pictures."""
