"""Published pretrained models that this project measured."""
