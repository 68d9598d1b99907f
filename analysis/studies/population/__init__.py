"""Analyse the population of small models."""
