"""Paper: the chapters, the LaTeX side, and the checks that keep the thesis honest.

This module stays light; builders import what they need when they run.
"""
