"""Figures: one file per figure, in folders by story."""
