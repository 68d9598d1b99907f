"""Claims: one function per statement, in folders by document."""
