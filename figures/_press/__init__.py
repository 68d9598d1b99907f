"""The press: from the specification of a figure to its LaTeX."""
