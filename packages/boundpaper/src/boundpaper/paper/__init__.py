"""Build the paper: its chapters, their LaTeX, and the checks of the text.

This module stays light; builders import what they need when they run.
"""
