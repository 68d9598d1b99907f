"""Analyse measurements of other groups' pretrained models."""
