"""Attention of a loaded model: its calls, scores and statistics, its projections and its encoding of positions."""
