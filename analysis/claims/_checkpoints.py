"""Checkpoints and phases of SmolLM3's training, as the artifacts name them."""

FIRST = "stage1-step-40000"
ANNEALED = "stage3-step-4720000"
ONSET = "lc-4k-to-32k-step-4000"
LAST = "lc-32k-to-64k-step-20000"
PRETRAINING = ("Pre-train", "Anneal")
EXTENSIONS = ("LC 4K-32K", "LC 32K-64K")
