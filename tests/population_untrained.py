"""An untrained model of the population, for tests of the command `run`."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers

from analysis.population.recipe import PopulationMember, PopulationRecipe, architecture
from keyquery.language import tokenizer

MICRO = PopulationRecipe(layers=2, width=64, heads=2, inner=64, length=48)
FEW = ("--documents", "2", "--items", "2", "--device", "cpu")


def save_untrained(folder: Path, arm: str = "A", *, card: bool = True, **changes: Any) -> Path:
    """Save a model with random weights and changed settings, with or without the card of a population model."""
    torch.manual_seed(0)
    config = architecture(MICRO, PopulationMember(400, 1, arm))
    for name, value in changes.items():
        setattr(config, name, value)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.build_tokenizer().save_pretrained(folder)
    if card:
        facts = {"language": "population", "training_seed": 0, "training_length": MICRO.length}
        (folder / "lab.json").write_text(json.dumps(facts))
    return folder
