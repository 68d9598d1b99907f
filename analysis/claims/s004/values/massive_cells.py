"""Document 004, Experiment 1: derived cells, and the coordinates of Figures A and B."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Quoted, Verdict, compare, pick, quote
from analysis.claims._verdicts.cells import Cell, restated
from analysis.statistics import percent_change

TENSORS = ("query", "key", "value")
MODELS = ("RoPE", "DroPE")


def c004_massive_change_cells(drope_massive_counts: pd.DataFrame) -> list[Verdict]:
    """The changes in the table of counts follow from its means.

    Source: 004, 2.2 Results.
    """
    verdicts = []
    for tensor in TENSORS:
        rope, drope = (_mean(drope_massive_counts, tensor, model) for model in MODELS)
        verdicts.append(
            compare(
                quote(drope_massive_counts, tensor=tensor, positional="DroPE", metric="change_from_rope"),
                100 * (drope.number / rope.number - 1),
                percent_change(rope.interval, drope.interval),
                reason=f"{drope.printed} against {rope.printed}.",
                places=2,
                key=tensor,
                statement=f"The change of the {tensor} count is DroPE's mean over RoPE's, less one.",
                kind="cell check",
            )
        )
    return verdicts


def c004_layer1_counts(drope_layer1_massive: pd.DataFrame, massive_layer_summary: pd.DataFrame) -> list[Verdict]:
    """The counts of layer 1 are those of the published layers.

    Source: 004, 2.3 Layer 1 Anomaly.
    """
    query = pick(massive_layer_summary, tensor="query")
    return [
        compare(
            quote(drope_layer1_massive, layers="1", positional=model, metric="count"),
            float(query[f"layer1_{model.lower()}"]),
            reason="The published count of massive query values in layer 1; the table names no tensor.",
            key=model,
            statement=f"The count of layer 1 of {model} equals the published one of the queries.",
            kind="cell check",
        )
        for model in MODELS
    ]


def c004_later_layers_from_totals(
    drope_layer1_massive: pd.DataFrame, drope_massive_counts: pd.DataFrame
) -> list[Verdict]:
    """The fall of the later layers agrees with the totals once layer 1 is taken out.

    Source: 004, 2.2 Results and 2.3 Layer 1 Anomaly.
    """
    rest, words = [], []
    for model in MODELS:
        total = _mean(drope_massive_counts, "query", model)
        one = quote(drope_layer1_massive, layers="1", positional=model, metric="count")
        rest.append(total.interval - one.interval)
        words.append(f"{total.printed} - {one.printed}")
    return [
        compare(
            quote(drope_layer1_massive, layers="2-31", positional="DroPE", metric="change_from_rope"),
            100 * (rest[1].middle / rest[0].middle - 1),
            percent_change(*rest),
            reason=f"Query totals without layer 1: {words[1]} (DroPE) against {words[0]} (RoPE), layer 0 included.",
            key="query",
            kind="cell check",
        )
    ]


def c004_figure_a(drope_figures: pd.DataFrame, drope_massive_counts: pd.DataFrame) -> list[Verdict]:
    """The coordinates and error bars of Figure A are the means and deviations of the table.

    Source: 004, 15 Publication Figures, Figure A.
    """
    verdicts = []
    for model in MODELS:
        for tensor in TENSORS:
            for metric in ("count_mean", "count_sd"):
                cell = quote(drope_massive_counts, tensor=tensor, positional=model, metric=metric)
                drawn = quote(drope_figures, figure="A", series=model, x=tensor.capitalize(), metric=metric)
                verdicts.append(_coordinate(drawn, cell, f"{model}-{tensor}-{metric}", "A"))
    return verdicts


def c004_figure_b(drope_figures: pd.DataFrame, massive_layers: pd.DataFrame) -> list[Verdict]:
    """The coordinates of Figure B are the counts of layer 1.

    Source: 004, 15 Publication Figures, Figure B.
    """
    verdicts = []
    for model in MODELS:
        for tensor in TENSORS:
            count = float(pick(massive_layers, tensor=tensor, layer=1)[model.lower()])
            verdicts.append(
                compare(
                    quote(drope_figures, figure="B", series=model, x=tensor.capitalize(), metric="count"),
                    count,
                    reason=f"The published {tensor} count of layer 1 of {model} is {count:.1f}.",
                    key=f"{model}-{tensor}",
                    statement=f"Figure B draws the {tensor} count of layer 1 of {model}.",
                    kind="cell check",
                )
            )
    return verdicts


def _mean(counts: pd.DataFrame, tensor: str, model: str) -> Quoted:
    return quote(counts, tensor=tensor, positional=model, metric="count_mean")


def _coordinate(drawn: Quoted, cell: Quoted, key: str, figure: str) -> Verdict:
    return compare(
        drawn,
        cell.number,
        cell.interval,
        reason=f"The table prints {cell.printed}.",
        places=cell.decimals,
        key=key,
        statement=f"Figure {figure} draws {key.replace('-', ', ')} as in the table.",
        kind="cell check",
    )


def c004_figure_a_caption(drope_captions: pd.DataFrame, drope_massive_counts: pd.DataFrame) -> list[Verdict]:
    """The caption of Figure A repeats the changes of the table.

    Source: 004, 15 Publication Figures, Figure A.
    """
    places: dict[str, Cell] = {
        f"fig_a_{tensor}_change": Cell(
            drope_massive_counts,
            "the table of counts",
            {"tensor": tensor, "metric": "change_from_rope"},
        ).by(f"c004_massive_change_cells.{tensor}")
        for tensor in ("query", "key")
    }
    return restated(drope_captions, places)
