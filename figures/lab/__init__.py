"""The tiny pair, trained and measured here."""
