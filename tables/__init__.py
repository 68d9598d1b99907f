"""Tables: one file per table, in folders by story."""
