"""Samples, hidden states, probes and groups of the anchoring experiment."""
