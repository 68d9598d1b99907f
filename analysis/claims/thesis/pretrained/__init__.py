"""Claims of the thesis on the pretrained models that it measured."""
