"""LongBench Pro: samples, prompts, predictions, metrics, scores."""
