"""What makes a function a claim: verdicts, how they are judged, and the ledger that gathers them."""
