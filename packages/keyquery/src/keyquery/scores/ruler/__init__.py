"""RULER: the harness and its results, needles in noise, scores."""
