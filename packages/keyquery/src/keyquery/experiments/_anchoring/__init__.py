"""What the anchoring experiment is made of: samples, states, probes, groups."""
