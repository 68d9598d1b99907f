"""Trained models of others, measured here."""
