"""Summarise a measurement in a few lines: estimate, interval and number of units of each headline quantity."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from boundpaper.statistics.locations.student import half_width, student_interval
from boundpaper.statistics.proportion import wilson_interval
from boundpaper.store.table_file import table_text
from boundpaper.typeset.numbers import significant
from keyquery.measure.headlines import HEADLINES, Headline, headlines
from keyquery.measure.units import Units, as_text, as_tidy, is_tidy, units_of

OF_HEADS = "model_metrics"
"""Name of the table with means over heads and intervals, which the command `heads` writes."""


@dataclass(frozen=True)
class SummaryLine:
    """A line of the summary; if there is no interval, `ci_low` and `ci_high` are None and `note` says why.

    `unit` is the unit of replication: text, item, seed, head. `unit_of_values` is, for example, `%`.
    """

    model: str
    experiment: str
    quantity: str
    metric: str
    condition: str
    estimate: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    unit: str
    unit_of_values: str
    note: str


def summary(tables: Mapping[str, pd.DataFrame], model: str) -> list[SummaryLine]:
    """Return the summary of a model's measurements.

    `tables` maps experiments to tables, as read by `keyquery.measure.units.as_text`.
    """
    summary_lines: list[SummaryLine] = []
    for experiment, table in tables.items():
        if experiment == OF_HEADS:
            summary_lines += _head_summary(table, model)
        elif is_tidy(table):
            rows = as_tidy(experiment, table)
            quantities = headlines(experiment, rows)
            summary_lines += [_summary_line(rows, quantity, model, experiment) for quantity in quantities]
    return summary_lines


def interval_of(units: Units) -> tuple[tuple[float, float] | None, str]:
    """Return the 95 % interval of the mean over units (Wilson's for shares, else Student's), or None and the reason."""
    values, right = units.defined, units.right
    if right is not None and len(right):
        low, high = wilson_interval(int(right.sum()), len(right))
        return (low * units.right_value, high * units.right_value), ""
    if len(values) < 2:
        return None, f"no interval: {'a single' if len(values) else 'no'} {units.kind} has a value"
    interval = student_interval(values.to_numpy())
    return (interval, "") if interval else (None, f"no interval: every {units.kind} has the same value")


def _summary_line(rows: pd.DataFrame, quantity: Headline, model: str, experiment: str) -> SummaryLine:
    labels = (model, experiment, quantity.label, quantity.metric, quantity.condition)
    units = units_of(rows, quantity)
    if units is not None and len(units.defined):
        interval, note = interval_of(units)
        low, high = interval or (None, None)
        notes = "; ".join(filter(None, (note, units.reason)))
        numbers = (float(units.defined.mean()), low, high, len(units.defined))
        return SummaryLine(*labels, *numbers, units.kind, quantity.unit, notes)
    mean, low, high, count, note = _model_value(rows, quantity)
    return SummaryLine(*labels, mean, low, high, count, "text", quantity.unit, note)


def _whole_model_rows(rows: pd.DataFrame, quantity: Headline, ending: str = "") -> pd.DataFrame:
    """Return a quantity's rows for the whole model; without such rows, its row for a layer if there is only one."""
    is_quantity = (rows["metric"] == quantity.metric + ending) & (rows["condition"] == quantity.condition)
    by_layer = rows[is_quantity & (rows["unit_id"] == "") & (rows["head"] == "")]
    of_model = by_layer[by_layer["layer"] == ""]
    return of_model if len(of_model) else by_layer if len(by_layer) == 1 else by_layer.iloc[:0]


def _model_value(rows: pd.DataFrame, quantity: Headline) -> tuple[float | None, float | None, float | None, int, str]:
    """Return value, interval ends, n and note of a quantity with one row per model; the ends use the sd over texts."""
    model_rows, sd_rows = _whole_model_rows(rows, quantity), _whole_model_rows(rows, quantity, "_sd")
    if model_rows.empty:
        return None, None, None, 0, "has no row of the whole model"
    if pd.isna(model_rows["value"].iloc[0]):
        return None, None, None, 0, str(model_rows["reason"].iloc[0])
    value, n = float(model_rows["value"].iloc[0]) * quantity.scale, int(model_rows["n"].iloc[0])
    if len(sd_rows) and pd.notna(sd_rows["value"].iloc[0]) and n > 1:
        error = float(sd_rows["value"].iloc[0]) * quantity.scale / math.sqrt(n)
        margin = float(half_width(np.array([error]), np.array([n - 1.0]))[0])
        if math.isfinite(margin):
            return value, value - margin, value + margin, n, ""
    return value, None, None, n, "" if len(sd_rows) else "no interval: single units are not kept"


def _head_summary(table: pd.DataFrame, model: str) -> list[SummaryLine]:
    summary_lines = []
    for quantity in HEADLINES["head_metrics"]:
        for row in table[table["metric"] == quantity.metric].to_dict("records"):
            value, low, high = (float(row[name]) if row[name] else None for name in ("value", "ci_low", "ci_high"))
            names = (model, "heads", quantity.label, quantity.metric, "")
            note = str(row["reason"]) if None in (value, low, high) else ""
            summary_lines.append(SummaryLine(*names, value, low, high, int(row["heads"]), "head", quantity.unit, note))
    return summary_lines


def summary_of_files(paths: Iterable[Path]) -> list[SummaryLine]:
    """Return the summary of tables at `artifacts/measurements/EXPERIMENT/MODEL`, one model after the other."""
    by_model: dict[str, dict[str, Path]] = {}
    for path in paths:
        by_model.setdefault(path.stem, {})[path.parent.name] = path
    summary_lines: list[SummaryLine] = []
    for model, files in by_model.items():
        summary_lines += summary({name: as_text(table_text(path)) for name, path in files.items()}, model)
    return summary_lines


def summary_text(summary_lines: Sequence[SummaryLine]) -> str:
    """Return the summary as lines of plain text; if there is nothing to show, one line says so."""
    if not summary_lines:
        return "no summary: these tables serve as data of tables and figures"
    lines = [("model", "experiment", "quantity", "estimate", "95 % interval", "n", "unit", "")]
    for line in summary_lines:
        interval = "" if line.ci_low is None else f"[{number_text(line.ci_low)}, {number_text(line.ci_high)}]"
        numbers = (number_text(line.estimate), interval, str(line.n), line.unit)
        lines.append((line.model, line.experiment, with_unit(line.quantity, line.unit_of_values), *numbers, line.note))
    return align_lines(lines)


def align_lines(lines: Sequence[Sequence[str]]) -> str:
    """Return lines with aligned columns; in the first two columns, a cell is blank if it repeats the cell above."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    aligned_lines, above = [], ["", ""]
    for line in lines:
        cells = [cell if cell != up or line[0] != above[0] else "" for cell, up in zip(line, above, strict=False)]
        padded_cells = (cell.ljust(width) for cell, width in zip([*cells, *line[2:]], widths, strict=True))
        aligned_lines.append("  ".join(padded_cells).rstrip())
        above = list(line[:2])
    return "\n".join(aligned_lines)


def number_text(value: float | None) -> str:
    """Return a value with three significant digits, or a dash if there is none."""
    return "-" if value is None else significant(3).show(value, "plain")


def with_unit(quantity: str, unit: str) -> str:
    """Return the name of a quantity, followed by the unit of its values in brackets if there is one."""
    return f"{quantity} ({unit})" if unit else quantity


def as_json(files: Sequence[str], summary_lines: Sequence[SummaryLine]) -> str:
    """Return JSON with the written files and the summary."""
    return json.dumps({"files": list(files), "summary": [asdict(line) for line in summary_lines]}, indent=1)
