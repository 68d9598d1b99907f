"""Measure plasticity of pretrained models in bins of 1,024 tokens, with queries from the middle 64, 256 or all tokens.

All widths have equally many queries per bin and document, and the same pairs of keys; only the queries' positions
differ.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import keyquery as kq
from analysis.population.geometry import ESTIMATORS
from boundpaper.errors import ModelError
from boundpaper.store.files import temporary, write
from boundpaper.store.manifest import sealed_text
from boundpaper.store.measurement import put
from boundpaper.store.results import text
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.models.captures.reading import Vectors
from keyquery.models.captures.sampling import HeadIndex
from keyquery.models.libraries import version
from keyquery.rotary import Rotary

NAME = "pretrained_widths"
SUBJECTS = {
    "smollm2-135m": ("smollm2-135m", "manual"),
    "smollm2-135m-code": ("smollm2-135m", "code"),
    "gemma3-270m": ("gemma3-270m", "manual"),
}
"""Model and texts, by name of the measurement."""
CONTEXT, BINS, DOCUMENTS = 4096, 4, 8
HEADS = 24  # number of heads to draw; for Gemma, all twelve heads in layers of full attention
WIDTHS = (64, 256, 1024)
QUERIES = WIDTHS[0]  # a bin and document
KEY_STEP = 16  # tokens
OPTIONS = PlasticityOptions(pairs="earlier_bucket", cap=1_000)


def measure(root: Path) -> list[Path]:
    """Capture each subject, measure its captured heads and write its table; return the files."""
    return [_measure_model(root, name, model, texts) for name, (model, texts) in SUBJECTS.items()]


def _measure_model(root: Path, name: str, model: str, texts: str) -> Path:
    rows: list[dict[str, Any]] = []
    for head, sampled in captured_heads(model, texts, DOCUMENTS, WIDTHS):
        for (width, one), estimator in itertools.product(sampled.items(), ESTIMATORS):
            profile = plasticity(one, replace(OPTIONS, estimator=estimator)).profile
            for place in range(1, BINS):
                rows.append(
                    {"model": name, "estimator": estimator, "width": width, "layer": head.layer}
                    | {"head": head.query, "key_head": head.key, "low": place * CONTEXT // BINS}
                    | {"high": (place + 1) * CONTEXT // BINS, "plasticity": float(profile.values[place])}
                )
    return write_table(root, NAME, name, pd.DataFrame(rows), "--pretrained", {"texts": texts, "documents": DOCUMENTS})


def write_table(root: Path, table: str, name: str, rows: pd.DataFrame, option: str, options: dict[str, Any]) -> Path:
    """Write one model's rows of a table and their manifest; return the file."""
    path = put(root, table, name, text(rows, table))
    facts: dict[str, Any] = {"command": f"python build.py lab widths {option}", "threads": 1}
    facts |= {"options": {**options, "context": CONTEXT}}
    facts |= {"versions": {each: version(each) for each in ("torch", "transformers", "numpy")}}
    write(path.with_suffix(".json"), sealed_text(facts, path))
    return path


def captured_heads(
    model: kq.Model | str, texts: str, documents: int, widths: Sequence[int]
) -> Iterator[tuple[HeadIndex, dict[int, kq.Head]]]:
    """Yield each drawn head's index, and by width the head with queries from that many tokens of each bin.

    Raises ModelError if a layer's rotation is not known.
    """
    with temporary() as folder:
        capture = kq.capture(
            model, texts, CONTEXT, folder / "capture",
            heads=HEADS, buckets=CONTEXT // WIDTHS[0], rate=WIDTHS[0], documents=documents,
            windows=True, skip_short=True,
        )  # fmt: skip
        for head in capture.heads:
            rotary = capture.rotation(head.layer)
            if isinstance(rotary, str):
                raise ModelError(f"{model if isinstance(model, str) else model.name}, layer {head.layer}: {rotary}")
            queries, keys = capture.queries(head), capture.keys(head)
            yield head, {width: _sampled_head(queries, keys, width, rotary) for width in widths}


def _sampled_head(queries: Vectors, keys: Vectors, width: int, rotary: Rotary) -> kq.Head:
    """Return the head with a sample of keys, and `QUERIES` queries per bin and document from the middle tokens."""
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
