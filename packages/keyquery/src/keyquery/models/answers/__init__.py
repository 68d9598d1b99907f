"""Answers of a model: forwards with a key cache, likelihoods, and greedy or sampled text."""
