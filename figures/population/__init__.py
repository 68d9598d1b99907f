"""Figures of the population of small models."""
