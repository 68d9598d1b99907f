"""A population of small models: one language, five arms from one start, two bases, many seeds, all measured alike."""
