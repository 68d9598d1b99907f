"""Experiments: a model or a capture in, tidy measurements out; torch and the Hub are imported only when they run."""
