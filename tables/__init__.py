"""Tables: one file a table, in folders by story."""
