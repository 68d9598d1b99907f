"""Pretrained models that others made and this project measured."""
