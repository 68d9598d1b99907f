"""Build the paper: its chapters, their LaTeX, and the checks of the text.

Builders import other modules only when they run, so that importing this package is fast.
"""
