"""Measure plasticity of pretrained models in bins of 1,024 tokens, with queries from the middle 64, 256 or all tokens.

Every width has as many queries per bin and document, and the same pairs of keys; widths differ in their queries alone.
`measure_exchange` asks what changes in the widest bins when two keys exchange positions, by the distance between them.
"""

import functools
import itertools
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import keyquery as kq
from analysis.population.ablation import ablate_head
from analysis.population.geometry import ESTIMATORS
from boundpaper.errors import ModelError
from boundpaper.store.files import temporary, write
from boundpaper.store.manifest import sealed_text
from boundpaper.store.measurement import put
from boundpaper.store.results import text
from keyquery.heads.exchange import exchange, exchanged_pairs
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.jobs import report
from keyquery.models.answers.scoring import options_logprobs
from keyquery.models.captures.reading import Capture, Vectors
from keyquery.models.captures.sampling import HeadIndex
from keyquery.models.libraries import version
from keyquery.rotary import Rotary
from keyquery.tasks.english import BOOK, LENGTH

NAME, EXCHANGED = "pretrained_widths", "pretrained_exchange"
SUBJECTS = {
    "smollm2-135m": ("smollm2-135m", "manual"),
    "smollm2-135m-code": ("smollm2-135m", "code"),
    "gemma3-270m": ("gemma3-270m", "manual"),
}
"""Model and texts by the name of the measurement."""
CONTEXT, BINS, DOCUMENTS = 4096, 4, 8
HEADS = 24  # drawn; of Gemma, all twelve of its layers of full attention
WIDTHS = (64, 256, 1024)
QUERIES = WIDTHS[0]  # a bin and document
KEY_STEP = 16  # tokens
OPTIONS = PlasticityOptions(pairs="earlier_bucket", cap=1_000)
FEWER = 4  # documents in which positions are exchanged
APART = (0, 256, 512, 1024, 2048, CONTEXT)  # tokens between the two keys
PROMPTS = 8  # with a key, for what the removal of a head costs


def measure(root: Path) -> list[Path]:
    """Capture each subject, measure its captured heads and write its table; return the files."""
    return [_measure_model(root, name, model, texts) for name, (model, texts) in SUBJECTS.items()]


def measure_exchange(root: Path) -> list[Path]:
    """Exchange positions of keys in each subject and write its table; return the files."""
    paths = []
    for name, (model, texts) in SUBJECTS.items():
        report(f"{name}: exchange of positions")
        rows: list[dict[str, Any]] = []
        for head, one in _captured_heads(model, texts, FEWER, WIDTHS[-1:]):
            pairs = exchanged_pairs(one, OPTIONS)
            known = {"model": name, "layer": head.layer, "head": head.query, "key_head": head.key}
            known["cost"] = _head_cost(model, head)
            for place, (low, high) in itertools.product(range(1, BINS), [(0, CONTEXT), *itertools.pairwise(APART)]):
                some = (pairs.bin == place) & (pairs.apart >= low) & (pairs.apart < high)
                cell = {
                    "low": place * WIDTHS[-1],
                    "high": (place + 1) * WIDTHS[-1],
                    "apart_low": low,
                    "apart_high": high,
                }
                result = exchange(pairs, some)
                rows.append({**known, **cell, **asdict(result), "reason": "" if result.pairs else "no pair of keys"})
        paths.append(_write_table(root, EXCHANGED, name, rows, "--exchange", texts, FEWER))
    return paths


@functools.cache
def _loaded(model: str) -> kq.Model:
    return kq.load(model)


@functools.cache
def _answer_nats(model: str, layer: int, head: int) -> float:
    """Return mean nats of the keys asked for, without a head; layer -1 leaves all heads in."""
    loaded = _loaded(model)
    items = BOOK.items("passkey", PROMPTS, 0, loaded.tokenizer, length=LENGTH)
    with ablate_head(loaded.network, layer, head):
        asked = [(item.prompt, (item.answer,)) for item in items]
        scores = options_logprobs(loaded.network, loaded.tokenizer, asked)
    return -float(np.mean([each.logprobs[0] for each in scores]))


def _head_cost(model: str, head: HeadIndex) -> float:
    return _answer_nats(model, head.layer, head.query) - _answer_nats(model, -1, 0)


def _measure_model(root: Path, name: str, model: str, texts: str) -> Path:
    rows: list[dict[str, Any]] = []
    for head, *sampled in _captured_heads(model, texts, DOCUMENTS, WIDTHS):
        for (width, one), estimator in itertools.product(zip(WIDTHS, sampled, strict=True), ESTIMATORS):
            profile = plasticity(one, replace(OPTIONS, estimator=estimator)).profile
            for place in range(1, BINS):
                rows.append(
                    {"model": name, "estimator": estimator, "width": width, "layer": head.layer}
                    | {"head": head.query, "key_head": head.key, "low": place * CONTEXT // BINS}
                    | {"high": (place + 1) * CONTEXT // BINS, "plasticity": float(profile.values[place])}
                )
    return _write_table(root, NAME, name, rows, "--pretrained", texts, DOCUMENTS)


def _write_table(
    root: Path, table: str, name: str, rows: list[dict[str, Any]], option: str, texts: str, documents: int
) -> Path:
    path = put(root, table, name, text(pd.DataFrame(rows), table))
    facts: dict[str, Any] = {"command": f"python build.py lab widths {option}", "threads": 1}
    facts |= {"options": {"texts": texts, "documents": documents, "context": CONTEXT}}
    facts |= {"versions": {each: version(each) for each in ("torch", "transformers", "numpy")}}
    write(path.with_suffix(".json"), sealed_text(facts, path))
    return path


def _captured_heads(model: str, texts: str, documents: int, widths: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield each captured head's index, and the head with the queries of each width."""
    with temporary() as folder:
        capture: Capture = kq.capture(
            model, texts, CONTEXT, folder / "capture",
            heads=HEADS, buckets=CONTEXT // WIDTHS[0], rate=WIDTHS[0], documents=documents,
            windows=True, skip_short=True,
        )  # fmt: skip
        for head in capture.heads:
            rotary = capture.rotation(head.layer)
            if isinstance(rotary, str):
                raise ModelError(f"{model}, layer {head.layer}: {rotary}")
            queries, keys = capture.queries(head), capture.keys(head)
            yield head, *(_sampled_head(queries, keys, width, rotary) for width in widths)


def _sampled_head(queries: Vectors, keys: Vectors, width: int, rotary: Rotary) -> kq.Head:
    """Return the head with few of its keys, and `QUERIES` queries per bin and document from the middle tokens."""
    size = CONTEXT // BINS
    inside = np.asarray(queries.position) % size - (size - width) // 2
    some = (inside >= 0) & (inside < width) & (inside % (width // QUERIES) == 0)
    few = np.asarray(keys.position) % KEY_STEP == 0
    return kq.Head(
        queries=queries.vectors[some], query_positions=queries.position[some].astype(np.int64),
        query_documents=queries.document[some].astype(np.int64),
        keys=keys.vectors[few], key_positions=keys.position[few].astype(np.int64),
        key_documents=keys.document[few].astype(np.int64),
        context=CONTEXT, buckets=BINS, rotary=rotary,
    )  # fmt: skip
