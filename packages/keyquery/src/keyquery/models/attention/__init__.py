"""Analyse attention in a loaded model: its calls, scores, statistics, projections and position encoding."""
