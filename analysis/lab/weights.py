"""The files of a published tiny model: configuration, half-precision weights, tokenizer, facts, card."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.models.libraries import need
from artifacts.store.files import write

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

FACTS, CARD = "lab.json", "README.md"


def rounded(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """The weights as they are published, float32 values that half precision holds exactly."""
    return {name: part.detach().half().float() for name, part in model.state_dict().items()}


def publish(
    folder: Path, model: PreTrainedModel, tokenizer: Any, facts: Mapping[str, Any], text: str, config: Any
) -> None:
    """Write a model's folder; each file is whole or absent.

    Parameters
    ----------
    folder : Path
    model : PreTrainedModel
    tokenizer : Any
    facts : mapping
        Of `lab.json`.
    text : str
        Of the card.
    config : Any
        The model's configuration.
    """
    transformers = need("transformers")
    half = transformers.LlamaForCausalLM(config).half()
    half.load_state_dict(model.state_dict())
    with tempfile.TemporaryDirectory() as made:
        half.save_pretrained(made)
        tokenizer.save_pretrained(made)
        for path in sorted(Path(made).iterdir()):
            write(folder / path.name, path.read_bytes())
    write(folder / CARD, text.encode())
    write(folder / FACTS, (json.dumps(facts, indent=1, sort_keys=True) + "\n").encode())
