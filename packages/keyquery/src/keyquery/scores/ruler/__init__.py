"""RULER: its harness and results, needles in generated noise, and scores."""
