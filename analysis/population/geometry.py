"""Measure every head of a model (plasticity, bias, rotation, sinks) from queries, keys and values in memory."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.population import prompts
from analysis.population.recipe import PopulationRecipe
from boundpaper.errors import ModelError
from keyquery.heads.laws import Estimator
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.language import documents
from keyquery.language.words import token_ids, world
from keyquery.measure.heads.finding import METRICS, analyse
from keyquery.models.attention.calls import Call, recording
from keyquery.models.attention.rotations import rotations
from keyquery.models.captures.reading import Capture, Vectors
from keyquery.models.captures.sampling import HeadIndex
from keyquery.models.libraries import need
from keyquery.rotary import Rotary

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Row = dict[str, Any]
BUCKETS = 16
DOCUMENTS = 256  # with one query and one key of each head per bucket and document
SUNK = 48  # of the documents, those that sinks are measured on
PASS = 32  # documents at a time
REACH = 4  # training lengths over which plasticity is followed
ESTIMATORS: tuple[Estimator, ...] = ("aligned_full", "bucket_full")
SINKS = ("sink", "sink_null", "sink_backcopy", "value_ratio")


@dataclass(frozen=True)
class MemoryCapture(Capture):
    """A capture in memory, with one file of vectors per layer, head and side."""

    files: dict[tuple[int, int, str], Vectors] = field(default_factory=dict)

    def queries(self, head: HeadIndex) -> Vectors:
        """Queries of a head."""
        return self.files[head.layer, head.query, "q"]

    def keys(self, head: HeadIndex) -> Vectors:
        """Keys of a head."""
        return self.files[head.layer, head.key, "k"]

    def window(self, layer: int) -> tuple[int | None, bool]:
        """Return that there are no windows or chunks: queries of these models see all earlier positions."""
        return None, False


def head_rows(model: PreTrainedModel, recipe: PopulationRecipe) -> list[Row]:
    """Return rows `estimator, layer, head`: all metrics of head geometry, plasticity by estimator, and sinks.

    `sink` is the mean attention, from rows 1 and later, to the first word of mixed documents, `sink_backcopy` the
    same for texts with signed copies, `sink_null` the value under uniform attention; `value_ratio` is the norm of the
    first word's value over the mean norm of the others.
    """
    texts = held_out_documents(recipe.length)
    held = capture_vectors(model, recipe.length, texts)
    sinks = sunk(model, texts[:SUNK])
    signed = [words for words, _ in prompts.backcopy_texts(world(), SUNK, recipe.length)]
    copies = sunk(model, signed)
    rows = []
    for estimator, head in itertools.product(ESTIMATORS, held.heads):
        finding = analyse(held, head, PlasticityOptions(estimator=estimator))
        place = (head.layer, head.query)
        values = {name: finding.metrics.get(name) for name in METRICS}
        reasons = dict.fromkeys(finding.reasons[name] for name in METRICS if name in finding.reasons)
        mass, null, ratio = sinks[place]
        rows.append(
            {
                "estimator": estimator,
                "layer": head.layer,
                "head": head.query,
                **values,
                **dict(zip(SINKS, (mass, null, copies[place][0], ratio), strict=True)),
                "reason": "; ".join(reasons),
            }
        )
    return rows


def known_rotations(model: PreTrainedModel, length: int) -> dict[int, Rotary]:
    """Return the known rotation of every layer for texts of a length.

    Raises
    ------
    ModelError
        If a layer's rotation is unknown.
    """
    found = rotations(model, length)
    refused = [f"layer {layer}: {one}" for layer, one in found.items() if isinstance(one, str)]
    if refused:
        raise ModelError("; ".join(refused))
    return {layer: one for layer, one in found.items() if isinstance(one, Rotary)}


def held_out_documents(length: int) -> list[list[str]]:
    """Return held-out documents as in training, the same for all models."""
    draws = (random.Random(f"population/geometry/{number}") for number in range(DOCUMENTS))
    return [documents.sequence(world(True), rng, length)[0] for rng in draws]


def capture_vectors(
    model: PreTrainedModel, length: int, texts: list[list[str]], buckets: int = BUCKETS
) -> MemoryCapture:
    """Capture one query and one key per bucket and document of `length` words, at positions shared by all models."""
    random = np.random.default_rng(0)
    size = length // buckets
    draws = {side: random.integers(size, size=(len(texts), buckets)) + size * np.arange(buckets) for side in "qk"}
    parts: dict[tuple[int, int, str], list[Any]] = {}

    def record(call: Call, at: int) -> None:
        assert call.layer is not None
        for side, vectors in (("q", call.query), ("k", call.key)):
            places = draws[side][at : at + vectors.shape[0]]
            for head in range(vectors.shape[1]):
                drawn = vectors[:, head].float().numpy()[np.arange(len(places))[:, None], places]
                parts.setdefault((call.layer, head, side), []).append(drawn)

    read_texts(model, texts, record)
    count = len(texts)
    bucket = np.tile(np.arange(buckets, dtype=np.int32), count)
    document = np.repeat(np.arange(count, dtype=np.int32), buckets)
    files = {
        (layer, head, side): Vectors(
            bucket, document, draws[side].ravel().astype(np.int32), np.concatenate(some).reshape(count * buckets, -1)
        )
        for (layer, head, side), some in parts.items()
    }
    heads = tuple(sorted({HeadIndex(layer, head, head) for layer, head, _ in files}))
    turning = known_rotations(model, length)
    return MemoryCapture(root=Path(), context=length, bucket_size=size, heads=heads, files=files, rotations=turning)


def sunk(model: PreTrainedModel, texts: list[list[str]]) -> dict[tuple[int, int], tuple[float, float, float]]:
    """Return by head: mean attention to the first word, its uniform value, and the relative norm of its value."""
    torch = need("torch")
    sums: dict[tuple[int, int], list[float]] = {}
    null = 0.0

    def record(call: Call, at: int) -> None:
        nonlocal null
        count = call.query.shape[2]
        later = torch.ones(count, count, dtype=torch.bool).triu(1)
        scores = (call.query @ call.key.transpose(-1, -2)).float() * call.scaling
        mass = scores.masked_fill(later, -torch.inf).softmax(-1)[:, :, 1:, 0].mean((0, 2)).tolist()
        lengths = call.value.float().norm(dim=-1)
        ratios = (lengths[:, :, 0] / lengths[:, :, 1:].mean(-1)).mean(0).tolist()
        null = float((1 / torch.arange(2, count + 1)).mean())
        for head, (one, ratio) in enumerate(zip(mass, ratios, strict=True)):
            total = sums.setdefault((int(call.layer or 0), head), [0.0, 0.0, 0])
            total[0] += one * call.query.shape[0]
            total[1] += ratio * call.query.shape[0]
            total[2] += call.query.shape[0]

    read_texts(model, texts, record)
    return {place: (mass / count, null, ratio / count) for place, (mass, ratio, count) in sums.items()}


def read_texts(model: PreTrainedModel, texts: list[list[str]], record: Callable[[Call, int], None]) -> None:
    """Read equally long texts in batches; pass each attention call to `record`, with the index of its first text."""
    torch = need("torch")
    model.train(False)
    for at in range(0, len(texts), PASS):
        with torch.inference_mode(), recording(model, functools.partial(_pass_on, record, at)):
            model(torch.tensor([token_ids(words) for words in texts[at : at + PASS]]), use_cache=False)


def _pass_on(record: Callable[[Call, int], None], at: int, call: Call) -> None:
    record(call, at)
