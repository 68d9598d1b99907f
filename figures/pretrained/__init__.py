"""Published pretrained models, measured here."""
