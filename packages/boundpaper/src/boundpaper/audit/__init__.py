"""Audit: find contradictions within a document, between its tables, figure code and sentences.

`documents` says what is read of a document, `checks` lists what is looked for, `report` how a finding is told.
"""
