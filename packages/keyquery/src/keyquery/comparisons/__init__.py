"""Compare measured models by exact tests, paired where the rows allow it and corrected as one family."""
