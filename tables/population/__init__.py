"""The population of small models."""
