"""Exchange positions of two keys in pretrained models, and in what was made of SmolLM2 without its rotation.

Heads and texts are those of `pretrained_widths`, half of the documents; queries come from bins of 1,024 tokens.
"""

import itertools
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import keyquery as kq
from analysis.population.ablation import ablate_head
from analysis.population.pretrained_widths import BINS, CONTEXT, OPTIONS, captured_heads, write_table
from keyquery.heads.exchange import exchange, exchanged_pairs
from keyquery.jobs import report
from keyquery.models.answers.scoring import options_logprobs
from keyquery.models.checkpoints.loading import AS_CONFIGURED
from keyquery.models.libraries import need
from keyquery.tasks.english import BOOK, LENGTH

NAME = "pretrained_exchange"
DOCUMENTS = 4
APART = (0, 256, 512, 1024, 2048, CONTEXT)  # tokens between the two keys
RANGES = ((0, CONTEXT), *itertools.pairwise(APART))  # all pairs first
PROMPTS = 8  # with a key, for the cost of removing a head
WIDTH = CONTEXT // BINS
RECIPE = "short-fp32"
STUDENTS = f"out/distil/smollm2-135m-{RECIPE}-s0"
Place = tuple[int, int]  # layer and query head


class ExchangeSubject(NamedTuple):
    """A model with its texts; costs of heads are measured on `teacher`."""

    model: str
    texts: str
    teacher: str
    position: str = AS_CONFIGURED


SUBJECTS = {
    "smollm2-135m": ExchangeSubject("smollm2-135m", "manual", "smollm2-135m"),
    "smollm2-135m-code": ExchangeSubject("smollm2-135m", "code", "smollm2-135m"),
    "gemma3-270m": ExchangeSubject("gemma3-270m", "manual", "gemma3-270m"),
    "smollm2-135m-untouched": ExchangeSubject("smollm2-135m", "manual", "smollm2-135m", "drope"),
    f"smollm2-135m-nope-{RECIPE}": ExchangeSubject(f"{STUDENTS}/smollm2-135m-nope", "manual", "smollm2-135m"),
    f"smollm2-135m-continued-{RECIPE}": ExchangeSubject(f"{STUDENTS}/smollm2-135m-continued", "manual", "smollm2-135m"),
}
"""By name of the measurement; the students are those that `build.py lab distil` trains."""


def measure(root: Path) -> list[Path]:
    """Measure all subjects and write one table for each; return the files. Students not yet trained are left out."""
    need("torch").set_num_threads(1)
    costs: dict[str, dict[Place, float]] = {}
    paths = []
    for name, subject in SUBJECTS.items():
        if subject.model.startswith(STUDENTS) and not (root / subject.model).is_dir():
            report(f"{name}: left out; first train it: python build.py lab distil --recipe {RECIPE}")
        else:
            paths.append(_measure_subject(root, name, subject, costs))
    return paths


def _measure_subject(root: Path, name: str, subject: ExchangeSubject, costs: dict[str, dict[Place, float]]) -> Path:
    report(f"{name}: exchange of positions")
    loaded = _load(root, subject)
    rows: list[dict[str, Any]] = []
    for head, one in captured_heads(loaded, subject.texts, DOCUMENTS, (WIDTH,)):
        pairs = exchanged_pairs(one[WIDTH], OPTIONS)
        known = {"model": name, "layer": head.layer, "head": head.query, "key_head": head.key}
        for place, (low, high) in itertools.product(range(1, BINS), RANGES):
            result = exchange(pairs, (pairs.bin == place) & (pairs.apart >= low) & (pairs.apart < high))
            cell = {"low": place * WIDTH, "high": (place + 1) * WIDTH, "apart_low": low, "apart_high": high}
            rows.append({**known, **cell, **asdict(result), "reason": "" if result.pairs else "no pair of keys"})
    if subject.teacher not in costs:
        teacher = _load(root, subject._replace(model=subject.teacher, position=AS_CONFIGURED))
        costs[subject.teacher] = head_costs(teacher, sorted({(row["layer"], row["head"]) for row in rows}))
    table = pd.DataFrame(rows)
    cost = [costs[subject.teacher][layer, head] for layer, head in zip(table["layer"], table["head"], strict=True)]
    table.insert(list(table.columns).index("pairs"), "cost", cost)
    return write_table(root, NAME, name, table, "--exchange", {"texts": subject.texts, "documents": DOCUMENTS})


def _load(root: Path, subject: ExchangeSubject) -> kq.Model:
    folder = root / subject.model
    return kq.load(str(folder) if folder.is_dir() else subject.model, position=subject.position)


def head_costs(loaded: kq.Model, places: list[Place]) -> dict[Place, float]:
    """Return by layer and head the additional nats of a key, mean over prompts, if the head writes nothing."""
    items = BOOK.items("passkey", PROMPTS, 0, loaded.tokenizer, length=LENGTH)
    asked = [(item.prompt, (item.answer,)) for item in items]
    nats: dict[Place, float] = {}
    for layer, head in [(-1, 0), *places]:
        with ablate_head(loaded.network, layer, head):
            scores = options_logprobs(loaded.network, loaded.tokenizer, asked)
        nats[layer, head] = -float(np.mean([each.logprobs[0] for each in scores]))
    return {place: nats[place] - nats[-1, 0] for place in places}
