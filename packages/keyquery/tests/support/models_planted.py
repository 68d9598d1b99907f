"""Tiny Llama models with planted weights, so that an experiment's answer is known, and subjects made of them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers

from boundpaper.errors import DataError
from keyquery.measure.rows import Row, frame
from keyquery.measure.subject import Subject
from keyquery.tasks.items import NO, YES, Item
from models_tiny import SIZES, word_tokenizer

WORDS = ("<pad>", "<s>", "</s>", "<unk>", YES, NO, "?", "key", *map(str, range(10)))
ALL_WORDS = (*WORDS, *(f"w{number}" for number in range(64 - len(WORDS))))
BOS = 1


@dataclass(frozen=True)
class PlantedBook:
    """A book: questions of random words with answers yes and no in turn, passkeys in random words, and random texts."""

    name: str = "planted"
    task_names: tuple[str, ...] = ("cities", "sports", "sentiment", "passkey")

    def tasks(self) -> Sequence[str]:
        return self.task_names

    def kinds(self) -> Sequence[str]:
        return ("filler",)

    def items(
        self, task: str, count: int, seed: int, tokenizer: Any, *, length: int | None = None, **shape: Any
    ) -> list[Item]:
        if task not in self.task_names:
            raise DataError(f"no task {task}")
        rng = random.Random(f"{task}/{seed}")
        items = []
        for number in range(count):
            if task == "passkey":
                key = "".join(rng.choice("0123456789") for _ in range(3))
                words = _words(rng, (length or 16) - 6)
                prompt = " ".join([*words, "key", *key, "?"])
                items.append(Item(f"{task}-{number:04d}", task, prompt, key))
            else:
                prompt = " ".join([*_words(rng, 4 + number % 2), "?"])
                items.append(Item(f"{task}-{number:04d}", task, prompt, (YES, NO)[number % 2], (YES, NO)))
        return items

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        return [" ".join(_words(random.Random(f"{seed}/{number}"), tokens)) for number in range(count)]


def _words(rng: random.Random, count: int) -> list[str]:
    return [rng.choice(ALL_WORDS[len(WORDS) :]) for _ in range(count)]


def tokenizer(bos: bool = True) -> Any:
    """Return a word-level tokenizer, with or without a beginning token."""
    return word_tokenizer({word: index for index, word in enumerate(ALL_WORDS)}, bos)


def model(layers: int = 3, **changes: Any) -> Any:
    """Return a Llama with grouped queries (4 heads on 2 key heads of 8 dimensions) and random weights."""
    torch.manual_seed(0)
    sizes = {**SIZES, "num_hidden_layers": layers, **changes}
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).eval()


def subject(net: Any, *, bos: bool = True, **changes: Any) -> Subject:
    """Return an in-memory subject of a planted model, with texts and prompts of 24 tokens."""
    fields: dict[str, Any] = {"name": "planted", "positional": "rope", "training_length": 24, "book": PlantedBook()}
    return Subject(model=net, tokenizer=tokenizer(bos), **(fields | changes))


def only_row(rows: list[Row], metric: str, **where: Any) -> Row:
    """Return the only row of a metric; fields that `where` does not name must be empty."""
    fields = {"condition": "", "layer": None, "head": None, "unit_id": "", **where, "metric": metric}
    matches = [row for row in rows if all(row[name] == value for name, value in fields.items())]
    assert len(matches) == 1, f"{len(matches)} rows of {fields}"
    return matches[0]


def assert_unique_with_reasons(rows: list[Row]) -> None:
    """Fail if a row occurs twice, or has neither a number nor a reason."""
    keys = [(r["condition"], r["layer"], r["head"], r["unit_id"], r["seed"], r["metric"]) for r in rows]
    assert len(set(keys)) == len(keys)
    table = frame(rows, "rope", "fp32")
    assert table["value"].isna().eq(table["n"] == 0).all()
    assert (table["value"].isna() == (table["reason"] != "")).all()


def massive(net: Any, layer: int, side: str, head: int, dim: int, factor: float = 60.0) -> Any:
    """Make one dimension of queries or keys large by scaling a row of the projection."""
    with torch.no_grad():
        weight = getattr(net.model.layers[layer].self_attn, f"{side}_proj").weight
        weight[head * net.model.layers[layer].self_attn.head_dim + dim] *= factor
    return net


def without_attention(net: Any, layer: int) -> Any:
    """Make the attention of a layer write nothing."""
    with torch.no_grad():
        net.model.layers[layer].self_attn.o_proj.weight.zero_()
    return net


def only_at_beginning(net: Any) -> Any:
    """Reserve the first dimension of the residual stream for the beginning token; nothing else reads or writes it."""
    with torch.no_grad():
        net.model.embed_tokens.weight[:, 0] = 0.0
        net.model.embed_tokens.weight[BOS, 0] = 1.0
        net.lm_head.weight[:, 0] = 0.0
        for block in net.model.layers:
            for name in ("q_proj", "k_proj", "v_proj"):
                getattr(block.self_attn, name).weight[:, 0] = 0.0
            block.self_attn.o_proj.weight[0] = 0.0
            block.mlp.gate_proj.weight[:, 0] = 0.0
            block.mlp.up_proj.weight[:, 0] = 0.0
            block.mlp.down_proj.weight[0] = 0.0
    return net


def spiking(net: Any, layer: int, size: float = 1e5) -> Any:
    """Make the MLP of one layer write a large vector for the beginning token and nothing for others.

    The MLP's only neuron reads the dimension reserved for the beginning token.
    """
    only_at_beginning(net)
    with torch.no_grad():
        mlp = net.model.layers[layer].mlp
        for projection in (mlp.gate_proj, mlp.up_proj, mlp.down_proj):
            projection.weight.zero_()
        mlp.gate_proj.weight[0, 0] = mlp.up_proj.weight[0, 0] = 1.0
        mlp.down_proj.weight[1, 0] = size
    return net


def writing_from_beginning(net: Any, layer: int, size: float = 3.0) -> Any:
    """Make the attention of one layer uniform, and zero the values of all tokens but the beginning token."""
    only_at_beginning(net)
    with torch.no_grad():
        attention = net.model.layers[layer].self_attn
        for name in ("q_proj", "k_proj", "v_proj"):
            getattr(attention, name).weight.zero_()
        attention.v_proj.weight[:, 0] = size
    return net
