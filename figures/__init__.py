"""Figures: one file a figure, in folders by story."""
