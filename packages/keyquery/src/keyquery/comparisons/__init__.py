"""Compare measured models by tests that are paired if possible; their p values are corrected as one family."""
