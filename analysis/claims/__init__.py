"""Claims: one function a statement, in folders by document."""
