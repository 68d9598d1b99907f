"""The press: from the specification of a table to its text in every format."""
