"""Analyse attention in a loaded model: calls, scores, statistics, projections and position encoding."""
