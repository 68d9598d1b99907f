"""Train and measure a population of small models: one language, five arms, two rotation bases, many seeds."""
