"""The tiny language of the laboratory and the pair of models trained on it, with rotation and without."""
