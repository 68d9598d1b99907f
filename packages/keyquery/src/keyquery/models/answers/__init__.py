"""Get answers of a model: forward passes with a key cache, likelihoods, and greedy or sampled text."""
