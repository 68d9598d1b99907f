"""Parts of the anchoring experiment: samples, states, probes, groups."""
