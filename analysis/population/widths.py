"""Measure plasticity in bins of up to 64 words, for shipped models and for networks with random weights in 3 sizes.

The latter also by layer (`null_layers`): as they are, without what attention writes, and with early queries late.

Bins are 64 words apart, and their queries, one per text, come from the middle 1, 2, 4 ... 64 words; pairs of keys are
the same for all widths, and for all models with equally many texts. The texts are those of `retrained_aligned`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.population.geometry import BUCKETS, ESTIMATORS, REACH, held_out_documents, known_rotations, read_texts
from analysis.population.recipe import BASES, PopulationMember, PopulationRecipe
from analysis.population.training import model_of
from boundpaper.store.files import write
from boundpaper.store.manifest import sealed_text
from boundpaper.store.measurement import put
from boundpaper.store.results import text
from keyquery.heads.exchange import exchange, exchanged_pairs
from keyquery.heads.head import Head, IntArray
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.jobs import report
from keyquery.models.anatomy import blocks
from keyquery.models.attention.calls import Call
from keyquery.models.checkpoints.builtin import NAMES, resolve
from keyquery.models.libraries import need, version
from keyquery.rotary import Rotary

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Row = dict[str, Any]
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
SPACING = WIDTHS[-1]
PAIRS = 1_000  # of keys per bin
OPTIONS = PlasticityOptions(pairs="earlier_bucket", cap=PAIRS)
NULL_WIDTHS = (1, 64)
SIZES = {"2 x 64": (2, 64, 2), "5 x 128": (5, 128, 4), "8 x 256": (8, 256, 8)}
"""Networks with random weights: layers, width and heads."""

SEEDS = (1, 2, 3, 4, 5)
ARMS = ("A", "C")  # with rotation and without
LIBRARIES = ("torch", "transformers", "numpy")
KEYS: dict[str, tuple[str, ...]] = {
    "shipped_widths": ("model", "estimator", "width", "layer", "head", "low"),
    "shipped_exchange": ("model", "width", "layer", "head", "low"),
    "null_initialisations": ("size", "positional", "seed", "estimator", "width", "low"),
    "null_layers": ("size", "positional", "seed", "attention", "queries", "layer", "low"),
}
LAYER_VALUES = ["plasticity", "sway", "position_part", "content_part", "gap", "spread", "linear_share"]


def measure_widths(root: Path) -> list[Path]:
    """Measure all widths and write the three tables; return their files."""
    transformers = need("transformers", "to measure the small models")
    need("torch").set_num_threads(1)
    tables: dict[str, list[Row]] = {name: [] for name in KEYS}
    for name in NAMES:
        report(f"{name}: widths")
        folder = resolve(root, name)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager")
        for widths, exchanged in shipped_rows(model):
            tables["shipped_widths"] += [{"model": name, **row} for row in widths]
            tables["shipped_exchange"] += [{"model": name, **row} for row in exchanged]
    for size, positional, seed, model in null_networks():
        report(f"random weights, {size}, {positional}, seed {seed}")
        known = {"size": size, "positional": positional, "seed": seed}
        tables["null_initialisations"] += [{**known, **row} for row in null_means(model)]
        tables["null_layers"] += [{**known, **row} for row in null_layer_means(model)]
    return write_tables(root, tables)


def write_tables(root: Path, tables: Mapping[str, list[Row]]) -> list[Path]:
    """Write tables of rows, ordered by their keys, and their manifests; return the files."""
    paths = []
    for name, rows in tables.items():
        keys = list(KEYS[name])
        table = pd.DataFrame(rows).sort_values(keys, kind="stable", ignore_index=True)
        table = table[[*keys, *(column for column in table.columns if column not in keys)]]
        paths.append(put(root, name, "population", text(table, name)))
        write(paths[-1].with_suffix(".json"), sealed_text(_manifest(), paths[-1]))
    return paths


def null_networks() -> Iterator[tuple[str, str, int, PreTrainedModel]]:
    """Yield size, positional kind, seed and network of every null model."""
    for size, (layers, width, heads) in SIZES.items():
        recipe = replace(PopulationRecipe(), layers=layers, width=width, heads=heads, inner=2 * width)
        for arm in ARMS:
            for seed in SEEDS:
                which = PopulationMember(BASES[0], seed, arm)
                yield size, which.positional, seed, model_of(recipe, which, None)


def shipped_rows(model: PreTrainedModel) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield rows of plasticity and of exchange for each head."""
    for place, heads in _heads_with_queries(model, WIDTHS):
        yield (
            [{**place, **row} for width in WIDTHS for row in _profile_rows(heads[width], width)],
            [{**place, **row} for width in WIDTHS for row in _exchange_rows(heads[width], width)],
        )


def null_means(model: PreTrainedModel) -> list[Row]:
    """Return means over heads: plasticity by estimator, width and quarter, and the exchange of aligned queries."""
    rows: list[Row] = []
    for _, heads in _heads_with_queries(model, NULL_WIDTHS):
        for width in NULL_WIDTHS:
            swayed = {row["low"]: row for row in _exchange_rows(heads[width], width)}
            for row in _profile_rows(heads[width], width):
                more = {name: swayed[row["low"]][name] for name in ("sway", "position_part", "content_part")}
                rows.append({**row, **more})
    table = pd.DataFrame(rows)
    places = ["estimator", "width", "low", "high"]
    means = table.groupby(places, as_index=False)[["plasticity", "sway", "position_part", "content_part"]].mean()
    return [
        {**{str(key): row[key] for key in row}, "heads": len(table) // len(means)} for row in means.to_dict("records")
    ]


def null_layer_means(model: PreTrainedModel) -> list[Row]:
    """Return means over the heads of each layer at single positions, by quarter; the model is changed.

    `attention` is `written`, or `silenced` when the output of every layer's attention is 0. `queries` are the quarter's
    `own`, or the first quarter's (`first`), rotated to the quarter's positions, against the same keys.
    """
    rows: list[Row] = []
    for attention in ("written", "silenced"):
        if attention == "silenced":
            for block in blocks(model):
                for parameter in block.out.parameters():
                    parameter.data.zero_()
        for place, heads in _heads_with_queries(model, (1,)):
            known = {"attention": attention, "layer": place["layer"]}
            rows += [{**known, "queries": "own", **row} for row in _exchange_rows(heads[1], 1)]
            if attention == "written":
                rows += [{**known, "queries": "first", **row} for row in _exchange_rows(_early_queries(heads[1]), 1)]
    groups = pd.DataFrame(rows).groupby(["attention", "queries", "layer", "low", "high"])
    means = groups[LAYER_VALUES].mean().assign(heads=groups.size()).reset_index()
    return [{str(key): row[key] for key in row} for row in means.to_dict("records")]


def _early_queries(head: Head) -> Head:
    """Return the head with queries of the first quarter in all quarters, rotated to the positions that they replace."""
    text, place = np.divmod(np.arange(len(head.queries)), head.buckets)
    early = place % (head.buckets // REACH)
    taken, moved = text * head.buckets + early, SPACING * (place - early)
    assert head.rotary is not None
    queries = head.rotary.turned(head.queries[taken], moved)
    return replace(head, queries=queries, query_positions=head.query_positions[taken] + moved)


def _heads_with_queries(model: PreTrainedModel, widths: Sequence[int]) -> Iterator[tuple[Row, dict[int, Head]]]:
    """Yield each head's layer and index, and the head with the queries of each width."""
    length = REACH * PopulationRecipe().length
    turning = known_rotations(model, length)
    places = _draw_positions(length, widths)
    held: dict[tuple[int, int], dict[int, list[Any]]] = {}

    def record(call: Call, at: int) -> None:
        assert call.layer is not None
        for kind, drawn in places.items():
            vectors = call.query if kind else call.key
            some = drawn[at : at + len(vectors)]
            for head in range(vectors.shape[1]):
                kept = vectors[:, head].float().numpy()[np.arange(len(some))[:, None], some]
                held.setdefault((call.layer, head), {}).setdefault(kind, []).append(kept)

    read_texts(model, held_out_documents(length), record)
    for (layer, head), parts in sorted(held.items()):
        joined = {kind: np.concatenate(some) for kind, some in parts.items()}
        made = {width: _head_of(joined, places, width, turning[layer], length) for width in widths}
        yield {"layer": layer, "head": head}, made


def _draw_positions(length: int, widths: Sequence[int]) -> dict[int, IntArray]:
    """Draw positions in each text: of queries by width, and of keys (0); shapes (texts, bins)."""
    random = np.random.default_rng(0)
    texts = len(held_out_documents(length))
    size = length // (REACH * BUCKETS)
    drawn = {0: random.integers(size, size=(texts, length // size)) + size * np.arange(length // size)}
    middles = SPACING * np.arange(length // SPACING) + SPACING // 2
    for width in WIDTHS:
        places = random.integers(width, size=(texts, middles.size)) + middles - width // 2
        if width in widths:
            drawn[width] = places
    return drawn


def _head_of(parts: Mapping[int, Any], places: Mapping[int, IntArray], width: int, rotary: Rotary, length: int) -> Head:
    queries, keys = parts[width], parts[0]
    return Head(
        queries=queries.reshape(-1, queries.shape[-1]),
        query_positions=places[width].ravel(),
        query_documents=np.repeat(np.arange(len(queries)), queries.shape[1]),
        keys=keys.reshape(-1, keys.shape[-1]),
        key_positions=places[0].ravel(),
        key_documents=np.repeat(np.arange(len(keys)), keys.shape[1]),
        context=length,
        buckets=length // SPACING,
        rotary=rotary,
    )


def _quarter_edges(head: Head) -> list[Row]:
    quarter = head.context // REACH
    return [{"low": number * quarter, "high": (number + 1) * quarter} for number in range(REACH)]


def _profile_rows(head: Head, width: int) -> list[Row]:
    """Return rows `estimator, width, low, high, plasticity, reason`; bins without earlier keys belong to no quarter."""
    found = []
    for estimator in ESTIMATORS:
        profile = plasticity(head, replace(OPTIONS, estimator=estimator)).profile
        parts = zip(np.split(profile.values, REACH), np.split(np.asarray(profile.reasons), REACH), strict=True)
        for edges, (values, reasons) in zip(_quarter_edges(head), parts, strict=True):
            known = ~np.isnan(values)
            value = float(values[known].mean()) if known.any() else None
            reason = "" if known.any() else str(reasons[0])
            found.append({"estimator": estimator, "width": width, **edges, "plasticity": value, "reason": reason})
    return found


def _exchange_rows(head: Head, width: int) -> list[Row]:
    pairs = exchanged_pairs(head, OPTIONS, PAIRS)
    found = []
    for edges in _quarter_edges(head):
        result = exchange(pairs, (pairs.centre >= edges["low"]) & (pairs.centre < edges["high"]))
        reason = "" if result.pairs else "no pair of keys"
        found.append({"width": width, **edges, **asdict(result), "reason": reason})
    return found


def _manifest() -> dict[str, Any]:
    """Return the tables' manifest, without times or facts of the machine."""
    return {
        "command": "python build.py lab widths",
        "threads": 1,
        "options": {"pairs": PAIRS, "sizes": SIZES, "seeds": list(SEEDS)},
        "versions": {name: version(name) for name in LIBRARIES},
    }
