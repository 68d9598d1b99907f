"""Run LaTeX: call it, precompile formats, parse its log, and read its output as pages and pictures."""
