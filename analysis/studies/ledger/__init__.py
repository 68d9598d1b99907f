"""Compute the ledger of claims, hypotheses and open gaps, and the provenance of every artifact."""
