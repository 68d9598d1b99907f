"""Tables that compare the captured models."""
