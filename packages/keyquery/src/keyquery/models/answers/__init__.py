"""Get answers from a model: forward passes with a key cache, likelihoods, and greedy or sampled text."""
