"""Any document, read for contradictions with itself: its tables, figure code and sentences against each other.

`documents` says what is read of a document, `checks` lists what is looked for, `report` how a finding is told.
"""
