"""Measure plasticity beyond the training length, at one position and in bins, and effects of exchanging positions.

Texts of four training lengths are read once. Bins have fixed centres and one query per text, drawn from a bin's
middle 1, 2, 4, 8 or 16 words; the pairs of keys are the same for every width and every model.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.population.geometry import (
    BUCKETS,
    DOCUMENTS,
    ESTIMATORS,
    REACH,
    held_out_documents,
    known_rotations,
    read_texts,
)
from analysis.population.recipe import PopulationRecipe
from keyquery.heads.exchange import Exchange, ExchangedPairs, exchange, exchanged_pairs
from keyquery.heads.head import Head, IntArray
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.models.attention.calls import Call
from keyquery.rotary import Rotary

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Row = dict[str, Any]
WIDTHS = (1, 2, 4, 8, 16)  # widths in words from which a bin's queries are drawn; bins are as far apart as the largest
WIDEST = WIDTHS[-1]
FIRST_PAIRS = 20_000  # pairs of keys per bin for the first run's plasticity
DRAWN = 1_000  # pairs per bin for plasticity by width
EXCHANGED = 1_000  # pairs per bin for the exchange of positions
APART = (0, 32, 64, 128, 256, 512)  # bounds of distances in words, between keys and from query to midpoint
REACHED = "reach"  # queries as in the first run, in bins of half the largest width
Range = tuple[int, int]
Held = dict[tuple[int, int], dict[str | int, Any]]


def reach_rows(model: PreTrainedModel, recipe: PopulationRecipe) -> dict[str, list[Row]]:
    """Return rows of `retrained_reach`, `retrained_aligned` and `retrained_exchange` for a model.

    Raises
    ------
    ModelError
        If the rotation of a layer cannot be read from the model.
    """
    length = REACH * recipe.length
    turning = known_rotations(model, length)
    places = draw_positions(length)
    held = _drawn_vectors(model, held_out_documents(length), places)
    tables: dict[str, list[Row]] = {"retrained_reach": [], "retrained_aligned": [], "retrained_exchange": []}
    for (layer, head), parts in sorted(held.items()):
        place = {"layer": layer, "head": head}
        made = {kind: _head_of(parts, places, kind, turning[layer], length) for kind in (REACHED, *WIDTHS)}
        tables["retrained_reach"] += [{**place, **row} for row in _plasticity_by_bin(made[REACHED], recipe)]
        tables["retrained_aligned"] += [{**place, **row} for row in _plasticity_by_width(made, recipe)]
        tables["retrained_exchange"] += [{**place, **row} for row in _exchange_effects(made, recipe)]
    return tables


def draw_positions(length: int) -> dict[str | int, IntArray]:
    """Draw positions in each text for every kind of queries, and for the keys ("k"); shapes (texts, bins).

    Positions for the first run's measure are drawn first, from the same generator, so that they stay the same.
    """
    random = np.random.default_rng(0)
    buckets = REACH * BUCKETS
    size = length // buckets
    drawn: dict[str | int, IntArray] = {}
    for kind in (REACHED, "k"):
        drawn[kind] = random.integers(size, size=(DOCUMENTS, buckets)) + size * np.arange(buckets)
    middles = WIDEST * np.arange(length // WIDEST) + WIDEST // 2
    for width in WIDTHS:
        drawn[width] = random.integers(width, size=(DOCUMENTS, middles.size)) + middles - width // 2
    return drawn


def _drawn_vectors(model: PreTrainedModel, texts: list[list[str]], places: Mapping[str | int, IntArray]) -> Held:
    """Return every head's drawn queries, by kind, and keys: arrays (texts, bins, d)."""
    held: dict[tuple[int, int], dict[str | int, list[Any]]] = {}

    def record(call: Call, at: int) -> None:
        assert call.layer is not None
        for kind, drawn in places.items():
            vectors = call.key if kind == "k" else call.query
            some = drawn[at : at + len(vectors)]
            for head in range(vectors.shape[1]):
                kept = vectors[:, head].float().numpy()[np.arange(len(some))[:, None], some]
                held.setdefault((call.layer, head), {}).setdefault(kind, []).append(kept)

    read_texts(model, texts, record)
    return {place: {kind: np.concatenate(some) for kind, some in kinds.items()} for place, kinds in held.items()}


def _head_of(
    parts: Mapping[str | int, Any], places: Mapping[str | int, IntArray], kind: str | int, rotary: Rotary, length: int
) -> Head:
    queries, keys = parts[kind], parts["k"]
    return Head(
        queries=queries.reshape(-1, queries.shape[-1]),
        query_positions=places[kind].ravel(),
        query_documents=np.repeat(np.arange(len(queries)), queries.shape[1]),
        keys=keys.reshape(-1, keys.shape[-1]),
        key_positions=places["k"].ravel(),
        key_documents=np.repeat(np.arange(len(keys)), keys.shape[1]),
        context=length,
        buckets=REACH * BUCKETS if kind == REACHED else length // WIDEST,
        rotary=rotary,
    )


def _quarters(recipe: PopulationRecipe) -> list[Row]:
    return [{"low": quarter * recipe.length, "high": (quarter + 1) * recipe.length} for quarter in range(REACH)]


def _mean_profile(head: Head, options: PlasticityOptions, recipe: PopulationRecipe) -> list[Row]:
    """Return rows `low, high, plasticity, reason`: means over the bins of one training length each."""
    profile = plasticity(head, options).profile
    found = []
    for number, edges in enumerate(_quarters(recipe)):
        size = profile.values.size // REACH
        part = slice(number * size, (number + 1) * size)
        known = ~np.isnan(profile.values[part])
        value = float(profile.values[part][known].mean()) if known.any() else None
        found.append({**edges, "plasticity": value, "reason": "" if known.any() else profile.reasons[part][0]})
    return found


def _plasticity_by_bin(head: Head, recipe: PopulationRecipe) -> list[Row]:
    """Return rows of plasticity as in the first run: in bins of eight words, with equally many pairs of keys."""
    found = _mean_profile(head, PlasticityOptions(estimator="bucket_full", cap=FIRST_PAIRS), recipe)
    return [{"estimator": "bucket_full", **row} for row in found]


def _plasticity_by_width(heads: Mapping[str | int, Head], recipe: PopulationRecipe) -> list[Row]:
    """Return rows of plasticity by estimator, width of the bins and training length."""
    found = []
    for width in WIDTHS:
        made: list[Row] = []
        for estimator in ESTIMATORS:
            # at one position, or without rotation, rotated and captured queries are equal
            if not made or (width > 1 and heads[width].turns):
                options = PlasticityOptions(estimator=estimator, pairs="earlier_bucket", cap=DRAWN)
                made = _mean_profile(heads[width], options, recipe)
            found += [{"estimator": estimator, "width": width, **row} for row in made]
    return found


def _exchange_effects(heads: Mapping[str | int, Head], recipe: PopulationRecipe) -> list[Row]:
    """Return effects of exchanging positions, by training length, distance between keys, and distance to the query."""
    options = PlasticityOptions(pairs="earlier_bucket")
    found = []
    for width, texts in ((WIDEST, "one"), (WIDTHS[0], "one"), (WIDEST, "two")):
        pairs = exchanged_pairs(heads[width], options, EXCHANGED, across_documents=texts == "two")
        whole = {"low": 0, "high": REACH * recipe.length}
        cells: list[tuple[Row, Range | None, Range | None]] = [(edges, None, None) for edges in _quarters(recipe)]
        if (width, texts) == (WIDEST, "one"):
            ranges = list(itertools.pairwise(round(edge * recipe.length / 128) for edge in APART))
            cells += [(edges, apart, None) for edges in _quarters(recipe) for apart in ranges]
            cells += [(whole, None, away) for away in ranges]
        for edges, apart, away in cells:
            result = exchange(pairs, _cell(pairs, edges, apart, away))
            found.append({"width": width, "texts": texts, **_edges(edges, apart, away, recipe), **_values(result)})
    return found


def _cell(pairs: ExchangedPairs, edges: Row, apart: Range | None, away: Range | None) -> Any:
    chosen = (pairs.centre >= edges["low"]) & (pairs.centre < edges["high"])
    for distance, limits in ((pairs.apart, apart), (pairs.query_distance, away)):
        if limits is not None:
            chosen &= (distance >= limits[0]) & (distance < limits[1])
    return chosen


def _edges(edges: Row, apart: Range | None, away: Range | None, recipe: PopulationRecipe) -> Row:
    every = (0, REACH * recipe.length)
    return {
        **edges,
        "apart_low": (apart or every)[0],
        "apart_high": (apart or every)[1],
        "away_low": (away or every)[0],
        "away_high": (away or every)[1],
    }


def _values(found: Exchange) -> Row:
    return {**asdict(found), "reason": "" if found.pairs else "no pair of keys at these distances"}
