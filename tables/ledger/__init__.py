"""Tables of the ledger: claims, hypotheses, open gaps, and the provenance of every artifact."""
