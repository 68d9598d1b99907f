"""What a model says: forwards under a key cache, likelihoods, and greedy or sampled answers."""
