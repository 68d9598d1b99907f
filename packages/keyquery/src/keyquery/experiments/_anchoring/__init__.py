"""Parts of the anchoring experiment: samples, hidden states, probes and groups."""
