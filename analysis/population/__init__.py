"""Train a population of small models, measured alike: one language, five arms from one start, two bases, many seeds."""
