"""Make tables and figures of all measured models; a new model needs no new code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.places import project_or_none
from boundpaper.store.measurement import path_of
from boundpaper.suggestions import or_known
from boundpaper.typeset.short_names import short_names
from keyquery.measure.measurements import OF_THE_MODEL, manifest_beside, settings_in_words
from keyquery.measure.summary import OF_HEADS, SummaryLine, summary, with_unit
from keyquery.measure.units import as_text

if TYPE_CHECKING:
    from boundpaper.figures.spec import Figure
    from boundpaper.tables.spec import Table

FILE = '''"""{title} of every model that was measured."""

import pandas as pd

from boundpaper.{folder} import {class_name}
from keyquery.exhibits import measured_{kind}


def {kind}({artifact}: pd.DataFrame) -> {class_name}:
    """Show each measured model; `models=["NAME", ...]` takes some of them."""
    return measured_{kind}({artifact}, "{artifact}")
'''
EXHIBITS = {"table": ("tables", "Table"), "figure": ("figures", "Figure")}  # folder and class of each kind
MAX_PANELS = 8  # panels of a figure


def measured_table(frame: pd.DataFrame, experiment: str, models: Sequence[str] = ()) -> Table:
    """Return a table of an experiment's headline quantities: a row per model, with 95 % intervals.

    Parameters
    ----------
    frame : DataFrame
        The measurements of all models as a paper reads them, with `model` as the first column.
    experiment : str
        Name of the experiment, such as `sinks`; for heads `model_metrics`.
    models : sequence of str
        Models to show, in this order; if empty, all.

    Raises
    ------
    DataError
        If a model was not measured, or the experiment has no headline quantities.
    """
    from boundpaper.tables.spec import Column, Table
    from boundpaper.typeset.numbers import significant

    summaries = _summary_lines(frame, experiment, models)
    rows = pd.DataFrame([asdict(line) for line in summaries])
    names = list(dict.fromkeys(rows["model"]))
    rows["group"] = list(map(with_unit, rows["quantity"], rows["unit_of_values"]))
    rows = rows.assign(shown=rows["model"].map(short_names(names)), number=pd.factorize(rows["group"])[0])
    rows = rows.sort_values("number", kind="stable")  # models stay in order
    return Table(
        rows=rows,
        columns=[
            Column("shown", "Model"),
            Column("estimate", "Estimate", significant(3), ci=("ci_low", "ci_high")),
            Column("n", "n"),
            Column("unit", "Unit"),
        ],
        groups="group",
        units="group",
        reason="note",
        caption=f"{experiment.replace('_', ' ').capitalize()} of {len(names)} measured models, with 95 % intervals.",
        note=[*_missing_quantities(summaries), *_different_settings(experiment, names)],
    )


def measured_figure(frame: pd.DataFrame, experiment: str, models: Sequence[str] = ()) -> Figure:
    """Return a figure of an experiment's headline quantities: a panel per quantity, a row per model, 95 % intervals.

    Parameters
    ----------
    frame, experiment, models
        See `measured_table`.

    Raises
    ------
    DataError
        As `measured_table`, or if no quantity has an interval in any model.
    """
    from boundpaper.figures.series import Forest
    from boundpaper.figures.spec import Axis, Figure, Panel

    summaries = _summary_lines(frame, experiment, models)
    labels = short_names(dict.fromkeys(line.model for line in summaries))
    panels = []
    for quantity, unit in dict.fromkeys((line.quantity, line.unit_of_values) for line in summaries):
        points = [
            (labels[line.model], line.estimate, line.ci_low, line.ci_high)
            for line in summaries
            if line.quantity == quantity and None not in (line.estimate, line.ci_low, line.ci_high)
        ]
        if points:
            rows, estimates, lows, highs = zip(*points, strict=True)
            forest = Forest(rows=rows, estimate=estimates, low=lows, high=highs, legend=False)
            panels.append(Panel(series=[forest], x=Axis(label=with_unit(quantity, unit))))
    if not panels:
        raise DataError(f"{experiment}: no quantity has an interval in any model, so there is nothing to draw")
    notes = [*_missing_quantities(summaries), *_different_settings(experiment, labels)]
    omitted = f" Not drawn: {len(panels) - MAX_PANELS} further quantities." if len(panels) > MAX_PANELS else ""
    return Figure(
        panels=panels[:MAX_PANELS],
        columns=min(2, len(panels)),
        legend="none",
        caption=f"{experiment.replace('_', ' ').capitalize()} of {len(labels)} measured models: means.{omitted}",
        note=" ".join(["Lines are 95 % intervals; a model without one is not drawn.", *notes]),
    )


def write_files(root: Path, experiments: Sequence[str]) -> list[Path]:
    """Write a Python file for a table and for a figure of each experiment, unless they exist; return their paths."""
    from boundpaper.store.files import write

    paths = []
    for experiment in experiments:
        title = experiment.replace("_", " ").capitalize()
        for kind, (folder, class_name) in EXHIBITS.items():
            path = root / folder / "measured" / f"measured_{experiment}.py"
            if not path.exists():
                source = FILE.format(title=title, folder=folder, class_name=class_name, kind=kind, artifact=experiment)
                write(path, source.encode())
            paths.append(path)
    return paths


def _missing_quantities(summaries: Sequence[SummaryLine]) -> list[str]:
    """Return a sentence for each model that lacks a quantity which other models have, as when its run ended early."""
    quantities = dict.fromkeys(line.quantity for line in summaries)
    present = {(line.model, line.quantity) for line in summaries}
    models = dict.fromkeys(line.model for line in summaries)
    missing = {model: [name for name in quantities if (model, name) not in present] for model in models}
    return [f"{model} was not measured by: {', '.join(names)}." for model, names in missing.items() if names]


def _different_settings(experiment: str, models: Iterable[str]) -> list[str]:
    """Return a sentence for each setting, such as the texts, in which measurements of the open project differ."""
    root = project_or_none()
    manifests = {name: manifest_beside(path_of(root, experiment, name)) for name in models} if root else {}
    settings = {name: settings_in_words(manifest) for name, manifest in manifests.items() if manifest}
    sentences = []
    for setting in dict.fromkeys(chain.from_iterable(settings.values())):
        models_by_value: dict[str, list[str]] = {}
        for name, values in settings.items():
            value = "not given" if values.get(setting) is None else str(values[setting])
            models_by_value.setdefault(value, []).append(name)
        if setting not in OF_THE_MODEL and len(models_by_value) > 1:
            alternatives = "; ".join(f"{value} ({', '.join(names)})" for value, names in models_by_value.items())
            sentences.append(f"Models differ in {setting}: {alternatives}.")
    return sentences


def _summary_lines(frame: pd.DataFrame, experiment: str, models: Sequence[str]) -> list[SummaryLine]:
    """Return the summary lines of an experiment for `models` in this order, or for all measured models."""
    names = list(dict.fromkeys(frame["model"]))
    for name in models:
        if name not in names:
            raise DataError(f"{experiment} was not measured on {name!r}{or_known(name, names)}")
    table = frame if experiment != OF_HEADS else frame.drop(columns="name", errors="ignore")
    summaries = [
        line
        for model in models or names
        for line in summary({experiment: as_text(table[table["model"] == model].to_csv(index=False))}, str(model))
    ]
    if not summaries:
        raise DataError(f"{experiment}: no summarised quantity; name an experiment that `run` has, or model_metrics")
    return summaries
