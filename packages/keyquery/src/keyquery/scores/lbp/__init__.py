"""LongBench Pro: samples, prompts, predictions, metrics and scores."""
