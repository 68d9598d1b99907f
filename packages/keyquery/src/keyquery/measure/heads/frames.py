"""Turn the results of a capture's heads into tables: one row per head, bin, cell, dimension or metric."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from keyquery.heads.aggregate import OverHeads, over_heads
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.measure.heads.finding import DECILES, LENGTHS, METRICS, HeadResult
from keyquery.models.captures.reading import Capture

PLANE_HEADS = 8  # number of heads whose vectors are in the table `head_plane`


def measurement_frames(
    findings: Sequence[HeadResult], options: PlasticityOptions, context: int, bins: int, model: str = ""
) -> dict[str, pd.DataFrame]:
    """Return all tables of a model's measurements by name.

    `findings` are the results of all heads, in order; `context` is in tokens.
    """
    return {
        "head_metrics": head_metrics(findings),
        "head_profile": head_profile(findings),
        "head_pairs": head_pairs(findings, options, context),
        "head_competition": head_competition(findings, options, context),
        "head_components": head_components(findings),
        "head_spectrum": head_spectrum(findings),
        "head_plane": head_plane(findings),
        "model_metrics": model_metrics(findings, options, context, bins, model),
    }


def head_metrics(findings: Sequence[HeadResult]) -> pd.DataFrame:
    """Return one row per head: all metrics, and reasons for missing ones."""
    rows = []
    for finding in findings:
        values = {name: finding.metrics.get(name) for name in METRICS}
        missing_reasons = dict.fromkeys(finding.reasons[name] for name in METRICS if name in finding.reasons)
        rows.append(
            {
                **_head_indices(finding),
                "queries": finding.queries,
                "keys": finding.keys,
                **values,
                "pc0_kind": finding.kind,
                "reason": "; ".join(missing_reasons),
            }
        )
    return _frame_of_rows(rows, METRICS)


def head_profile(findings: Sequence[HeadResult]) -> pd.DataFrame:
    """Return one row per head and query bin."""
    rows = [
        {**_head_indices(finding), "bin": index, **row}
        for finding in findings
        for index, row in enumerate(finding.bins)
    ]
    return _frame_of_rows(rows, ("position", "plasticity", "mean_gap", "spread"))


def head_pairs(findings: Sequence[HeadResult], options: PlasticityOptions, context: int) -> pd.DataFrame:
    """Return mean plasticity by inter-key and query-to-midpoint distance, over the heads that have pairs there."""
    widths = [context / cells for cells in options.cells]
    cells = _cells_of_heads([finding.cells for finding in findings])
    return pd.DataFrame(
        {
            "key_distance": (i + 0.5) * widths[0],
            "query_distance": (j + 0.5) * widths[1],
            "plasticity": np.mean(cell[:, 1]),
            "heads": len(cell),
            "pairs": int(cell[:, 0].sum()),
        }
        for (i, j), cell in cells.items()
    )


def head_competition(findings: Sequence[HeadResult], options: PlasticityOptions, context: int) -> pd.DataFrame:
    """Return mean effects of position and content by query bin and inter-key distance, over heads with pairs there."""
    width = context / options.cells[0]
    cells = _cells_of_heads([finding.competition for finding in findings])
    return pd.DataFrame(
        {
            "bin": i,
            "key_distance": (j + 0.5) * width,
            "mean_gap": np.mean(cell[:, 1]),
            "spread": np.mean(cell[:, 2]),
            "heads": len(cell),
            "pairs": int(cell[:, 0].sum()),
        }
        for (i, j), cell in cells.items()
    )


def head_components(findings: Sequence[HeadResult]) -> pd.DataFrame:
    """Return one row per head and original dimension of the queries."""
    return pd.DataFrame(
        {**_head_indices(finding), "dimension": index, "r2": r2, "weight": weight}
        for finding in findings
        for index, (r2, weight) in enumerate(finding.dimensions)
    )


def head_spectrum(findings: Sequence[HeadResult]) -> pd.DataFrame:
    """Return one row per head and principal component of queries and keys, for the first components."""
    return pd.DataFrame(
        {**_head_indices(finding), "component": index, "explained": explained, "r_q": r_q, "r_k": r_k}
        for finding in findings
        for index, (explained, r_q, r_k) in enumerate(finding.spectrum)
    )


def head_plane(findings: Sequence[HeadResult]) -> pd.DataFrame:
    """Return a sample of queries and keys in the plane of drift and separation, for evenly spaced heads."""
    with_plane = [finding for finding in findings if finding.plane]
    sample = np.linspace(0, len(with_plane) - 1, min(PLANE_HEADS, len(with_plane)))
    return pd.DataFrame(
        {
            **_head_indices(with_plane[number]),
            "point": point,
            "side": "query" if is_query else "key",
            "position": int(position),
            "a": a,
            "b": b,
        }
        for number in sorted({round(number) for number in sample})
        for point, (is_query, position, a, b) in enumerate(with_plane[number].plane)
    )


def model_metrics(
    findings: Sequence[HeadResult], options: PlasticityOptions, context: int, bins: int, model: str = ""
) -> pd.DataFrame:
    """Return the means of metrics, deciles, length bins and query bins over heads, with cluster-bootstrap intervals."""
    names = [*METRICS, *DECILES, *LENGTHS, *(f"ap_bin_{index}" for index in range(bins))]
    table = np.full((len(findings), len(names)), np.nan)
    for row, finding in enumerate(findings):
        values = {
            **finding.metrics,
            **{f"ap_bin_{index}": query_bin["plasticity"] for index, query_bin in enumerate(finding.bins)},
        }
        table[row] = [np.nan if values.get(name) is None else values[name] for name in names]
    key_heads = [(finding.layer, finding.key_head) for finding in findings]
    means = over_heads(table, key_heads)
    key_head_counts = [len({key_heads[row] for row in np.flatnonzero(~np.isnan(column))}) for column in table.T]
    return pd.DataFrame(
        {
            "metric": name,
            "value": means.mean.values[index],
            "ci_low": means.low.values[index],
            "ci_high": means.high.values[index],
            "sd": means.sd.values[index],
            "bimodality": means.bimodality.values[index],
            "heads": int(means.mean.counts[index]),
            "key_heads": key_head_counts[index],
            "context": context,
            "estimator": options.estimator,
            "pairs": options.pairs,
            "bins": bins,
            "min_queries": options.min_queries,
            "name": model,
            "reason": _why_empty(findings, means, name, index),
        }
        for index, name in enumerate(names)
    )


def half_metrics(
    findings: Sequence[HeadResult],
    options: PlasticityOptions,
    half_capture: Capture,
    bins: int,
    split_index: int,
    half_index: int,
) -> pd.DataFrame:
    """Return means over heads for half of a capture's documents, without intervals."""
    means = model_metrics(findings, options, half_capture.context, bins)
    columns = ["metric", "value", "heads", "context", "estimator", "pairs", "bins", "min_queries", "reason"]
    rows = means[columns].assign(split=split_index, half=half_index, documents=len(half_capture.documents))
    return rows[["split", "half", "documents", *columns]]


def _why_empty(findings: Sequence[HeadResult], means: OverHeads, name: str, index: int) -> str:
    """Return why a metric has no mean (the heads' reasons), interval, sd or bimodality; empty if none is missing."""
    if means.mean.reasons[index]:
        reasons = dict.fromkeys(finding.reasons[name] for finding in findings if name in finding.reasons)
        number = name.removeprefix("ap_bin_")
        if number.isdigit():
            reasons = dict.fromkeys(
                row["reason"] for finding in findings for row in finding.bins[int(number) : int(number) + 1]
            )
        return "; ".join(list(reasons)[:3]) or means.mean.reasons[index]
    rows = (means.low, means.sd, means.bimodality)
    return "; ".join(dict.fromkeys(row.reasons[index] for row in rows if row.reasons[index]))


def _head_indices(finding: HeadResult) -> dict[str, Any]:
    return {"layer": finding.layer, "head": finding.head, "key_head": finding.key_head}


def _cells_of_heads(by_head: Sequence[list[list[float]]]) -> dict[tuple[int, int], np.ndarray[Any, Any]]:
    """Return an array for each cell, sorted by the cell's index, with one row of values per head that has the cell."""
    cells: dict[tuple[int, int], list[list[float]]] = defaultdict(list)
    for head_cells in by_head:
        for i, j, *values in head_cells:
            cells[int(i), int(j)].append(values)
    return {index: np.array(cells[index]) for index in sorted(cells)}


def _frame_of_rows(rows: list[dict[str, Any]], numbers: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    return table.astype(dict.fromkeys(numbers, float)) if len(table) else table
