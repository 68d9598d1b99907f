"""Figures of published pretrained models that this project measured."""
