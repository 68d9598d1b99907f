"""The ledger of claims, hypotheses, open gaps, and the provenance of every artifact."""
