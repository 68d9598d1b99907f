"""Run LaTeX: its calls, precompiled formats and log, and its output as pages and pictures."""
