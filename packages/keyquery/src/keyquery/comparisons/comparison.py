"""A comparison of measured models: its tests, and their display as a table, a figure, a report and HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from boundpaper.errors import DataError, LatexError, MissingDependency
from boundpaper.statistics import fired, frame, guards
from boundpaper.store.files import write
from boundpaper.suggestions import or_known
from boundpaper.typeset.numbers import pvalue, significant
from boundpaper.typeset.plural import counted
from boundpaper.typeset.short_names import short_names
from keyquery.comparisons.measured import ModelMeasurements, common_experiments
from keyquery.comparisons.paired import TestedQuantity, correct_tests, note_on_units, pair_tests
from keyquery.measure.headlines import HEADLINES
from keyquery.measure.summary import align_lines, number_text, with_unit

if TYPE_CHECKING:
    from boundpaper.figures.spec import Figure
    from boundpaper.tables.spec import Table

TESTS = {
    "sign_flips": "exact flips of the signs of paired differences",
    "mcnemar_exact": "McNemar's exact test of the same items",
    "welch_t": "Welch's t of two groups of heads, which are not paired",
}
EFFECTS = {"d_z": "$d_z$", "d": "$d$", "odds_ratio": "odds ratio"}
GUARDS_BELOW_TABLE = (guards.DEPENDENT_UNITS, guards.MIXED_PROTOCOL)
"""Guards that are explained once below the table; other guards are in the note of each row."""
NAME = "comparison"
"""Name of a report's files, without suffix."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of models with a reference model; `compare` returns one.

    Attributes
    ----------
    models : tuple of str
        Names of the measurements, the reference first.
    tests : tuple of TestedQuantity
        One test per quantity and model; p values are Holm-corrected over all tests.
    left_out : tuple of str
        Sentences that say what was left out, and why.
    measured : tuple of ModelMeasurements
        The compared measurements.
    by : str or None
        The requested unit of pairing.
    metrics : tuple of str
        The requested metrics; empty for those of the experiments' summaries.

    Examples
    --------
    >>> import keyquery as kq
    >>> size = {"texts": 6, "items": 0}
    >>> rows_by_model = [kq.run("attention_patterns", name, **size) for name in ("tiny-rope", "tiny-drope")]
    >>> kq.compare(*rows_by_model).frame["n"].tolist()
    [6, 6, 6]
    """

    models: tuple[str, ...]
    tests: tuple[TestedQuantity, ...]
    left_out: tuple[str, ...] = ()
    measured: tuple[ModelMeasurements, ...] = ()
    by: str | None = None
    metrics: tuple[str, ...] = ()

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments that have at least one test."""
        return tuple(dict.fromkeys(test.row.study for test in self.tests))

    @property
    def frame(self) -> pd.DataFrame:
        """One row per test: experiment, quantity, models, means, and the columns of `boundpaper.statistics`."""
        tests = frame(test.row for test in self.tests).rename(columns={"study": "experiment"})
        facts = pd.DataFrame(
            [(test.quantity.label, test.quantity.unit, *test.models, *test.means) for test in self.tests],
            columns=["quantity", "values_in", "reference", "model", "reference_mean", "model_mean"],
        )
        return pd.concat([tests[["experiment"]], facts, tests.drop(columns="experiment")], axis=1)

    def __str__(self) -> str:
        header = ("experiment", "quantity", "model", "difference", "95 % interval", "effect", "p", "Holm", "n", "unit")
        lines: list[tuple[str, ...]] = [header]
        for test in self.tests:
            row, quantity = test.row, with_unit(test.quantity.label, test.quantity.unit)
            interval = f"[{number_text(row.ci_low)}, {number_text(row.ci_high)}]"
            difference = number_text(row.estimate), interval if None not in (row.ci_low, row.ci_high) else ""
            effect = f"{row.effect_name} {number_text(row.effect)}"
            p_and_n = _p_text(row.p_value), _p_text(row.p_adjusted), str(row.n), row.unit
            lines.append((row.study, quantity, test.models[1], *difference, effect, *p_and_n))
        if len(self.models) == 2:
            lines = [(*line[:2], *line[3:]) for line in lines]
        contrast = f"{' and '.join(self.models[1:])} minus {self.models[0]}"
        return "\n\n".join([contrast, align_lines(lines), "\n".join(self.notes)])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the tests, units, correction, triggered guards, and what is left out."""
        tests = "; ".join(TESTS[name] for name in dict.fromkeys(test.row.test for test in self.tests))
        count = sum(test.row.p_value is not None for test in self.tests)
        guard_notes = dict.fromkeys(
            note.strip()
            for test in self.tests
            for note in test.row.note.split(";")
            if set(fired(note.strip())) & set(GUARDS_BELOW_TABLE)
        )
        return (
            f"p: {tests}. Holm over all {counted(count, 'test')} as one family. Units: {self._units_in_words}.",
            "Tests generalise to further units of these networks, not to other trainings.",
            *(f"{note[:1].upper()}{note[1:]}." for note in guard_notes),
            *(f"{line}." for line in self.left_out),
        )

    @property
    def _units_in_words(self) -> str:
        counts = dict.fromkeys((test.row.n, test.row.unit) for test in self.tests)
        return ", ".join(counted(n, unit) for n, unit in counts)

    def table(self) -> Table:
        """Return the tests as a `boundpaper` table, which renders to any of its output formats."""
        from boundpaper.tables.spec import Column, Table

        rows = self.frame
        rows["shown"] = list(map(with_unit, rows["quantity"], rows["values_in"]))
        effects = rows["effect_name"] = rows["effect_name"].map(EFFECTS)
        shared_name = effects.iloc[0] if effects.nunique() == 1 else ""  # given in the header, else in a column
        model_column = [Column("model", "Model", repeat=False)] * (len(self.models) > 2)
        return Table(
            rows=rows,
            columns=[
                *model_column,
                Column("shown", "Quantity"),
                Column("reference_mean", self.models[0], significant(3)),
                Column("model_mean", self.models[1] if len(self.models) == 2 else "Its mean", significant(3)),
                Column("estimate", "Difference", significant(3), ci=("ci_low", "ci_high")),
                Column("effect", shared_name or "Effect", significant(3)),
                *[Column("effect_name", "Measure")] * (not shared_name),
                Column("p_value", "$p$", pvalue()),
                Column("p_adjusted", "Holm", pvalue()),
                *[Column("n", "n"), Column("unit", "Unit")] * (len(rows[["n", "unit"]].drop_duplicates()) > 1),
            ],
            groups="experiment",
            reason="note",
            caption=f"{' and '.join(self.models[1:])} minus {self.models[0]}, with 95 % intervals.",
            note=self.notes,
        )

    def figure(self) -> Figure:
        """Return a figure of differences with intervals: in percentage points for shares of items, else standardised.

        Raises
        ------
        DataError
            If no difference has an interval.
        """
        from boundpaper.figures.series import Forest
        from boundpaper.figures.spec import Axis, Figure, Panel, Rule

        labels, panels = short_names(self.models), []
        for axis_label, tests in (
            ("standardised difference", [test for test in self.tests if test.row.test != "mcnemar_exact"]),
            ("difference (percentage points)", [test for test in self.tests if test.row.test == "mcnemar_exact"]),
        ):
            series = []
            for model in self.models[1:]:
                by_test = {test: _drawn_values(test) for test in tests if test.models[1] == model}
                if points := {test: values for test, values in by_test.items() if values}:
                    rows = [test.quantity.label for test in points]
                    estimate, low, high = zip(*points.values(), strict=True)
                    groups = [test.row.study.replace("_", " ") for test in points]
                    series.append(
                        Forest(rows=rows, estimate=estimate, low=low, high=high, groups=groups, label=labels[model])
                    )
            if series:
                panels.append(Panel(series=series, x=Axis(label=axis_label, zero=True), rules=[Rule(at=0.0, axis="x")]))
        if not panels:
            raise DataError("no difference has an interval to draw; measure more units")
        undrawn = [f"{test.row.study}: {test.quantity.label}" for test in self.tests if _drawn_values(test) is None]
        contrast = f"{' and '.join(self.models[1:])} minus {self.models[0]}"
        return Figure(
            panels=panels,
            columns=1,
            caption=f"{contrast}: differences with 95 % intervals; {self._units_in_words}.",
            note=f"Without an interval, and not drawn: {'; '.join(dict.fromkeys(undrawn))}." if undrawn else "",
            legend="above" if len(self.models) > 2 else "none",
        )

    plot = figure

    def to_markdown(self) -> str:
        """Return the comparison as a page of Markdown: what was compared, the table and its notes."""
        title = f"# {' and '.join(self.models[1:])} against {self.models[0]}"
        return "\n".join([title, "", *self.table().to_markdown(NAME).splitlines()[2:]]) + "\n"

    def to_json(self) -> str:
        """Return JSON with the models, one object per test, and what was left out."""
        tests: list[dict[str, Any]] = [
            {
                "experiment": test.row.study,
                "quantity": test.quantity.label,
                "metric": test.quantity.metric,
                "condition": test.quantity.condition,
                "values_in": test.quantity.unit,
                "reference": test.models[0],
                "model": test.models[1],
                "means": list(test.means),
                **{name: value for name, value in asdict(test.row).items() if name not in ("study", "comparison")},
            }
            for test in self.tests
        ]
        return json.dumps({"models": self.models, "tests": tests, "left_out": self.left_out}, indent=1)

    def report(self, folder: str | Path) -> list[Path]:
        """Write `comparison.md`, `.csv`, `.json` and the figure into a folder; return the files.

        The figure is written as PDF and PNG, or as LaTeX source if LaTeX is not installed.

        Parameters
        ----------
        folder : str or Path
            Created if missing; existing files of these names are replaced.
        """
        target = Path(folder)
        texts = {".csv": self.frame.to_csv(index=False, lineterminator="\n"), ".json": self.to_json() + "\n"}
        for suffix, text in texts.items():
            write(target / f"{NAME}{suffix}", text.encode())
        figure_paths, figure_note = self._figure_files(target)
        page = self.to_markdown()
        picture = next((path.name for path in figure_paths if path.suffix == ".png"), "")
        page += f"\n![{self.figure().caption}]({picture})\n" if picture else ""
        page += f"\n{figure_note}\n" if figure_note else ""
        write(target / f"{NAME}.md", page.encode())
        return [*(target / f"{NAME}{suffix}" for suffix in (".md", *texts)), *figure_paths]

    def paper(self, folder: str | Path, title: str = "") -> Path:
        """Write a new paper on this comparison, with numbers bound to the measurements; return its two-page PDF.

        The paper contains the measurements and short files for a study, a table, a figure and a chapter. After edits,
        run `boundpaper chapter comparison` there to rebuild it.

        Parameters
        ----------
        folder : str or Path
            Folder of the paper; must be missing or empty, and not inside another paper.
        title : str
            Title of the paper; if empty, the models' names.

        Raises
        ------
        SpecError
            If the folder is not empty, or is inside another paper.
        ThesisError
            If the chapter cannot be built, for example without LaTeX; the paper's files are kept.
        """
        from keyquery.comparisons.paper import write_paper

        return write_paper(self, Path(folder), title or f"{' and '.join(self.models[1:])} against {self.models[0]}")

    def _figure_files(self, folder: Path) -> tuple[list[Path], str]:
        """Return the figure's files, and a note if there is no figure or only its LaTeX source."""
        try:
            figure = self.figure()
        except DataError as error:
            return [], f"No figure: {error}."
        try:
            return [figure.save(folder / f"{NAME}{suffix}") for suffix in (".pdf", ".png")], ""
        except (MissingDependency, LatexError) as error:
            return [figure.save(folder / f"{NAME}.tex")], f"The figure is LaTeX only: {error}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def compare_models(
    models: Sequence[ModelMeasurements],
    experiments: Sequence[str] = (),
    *,
    by: str | None = None,
    metrics: Sequence[str] = (),
) -> Comparison:
    """Return a comparison of the first model with every other model.

    Names of models must differ. Without `experiments`, all that were run on every model are compared. `by` is the
    unit to pair by, by default texts or items if the rows name them, else seeds, else heads. If `metrics` are given,
    they are tested in all their conditions, instead of those in an experiment's summary. Raises DataError if models
    were measured with different settings, a metric is unknown, nothing can be paired, or no test can reach p < .05.
    """
    names = tuple(model.name for model in models)
    if len(names) < 2:
        raise DataError("only one model is named; name two or more to compare")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{repeated[0]} is compared with itself; name another model, or rerun it with another --name")
    experiments, left_out = common_experiments(models, experiments)
    tables = [model.tables[name] for model in models for name in experiments]
    all_metrics = dict.fromkeys(metric for table in tables for metric in table["metric"])
    for metric in metrics:
        if metric not in all_metrics:
            raise DataError(f"no metric {metric!r} in {', '.join(experiments)}{or_known(metric, all_metrics)}")
    tests: list[TestedQuantity] = []
    errors: list[DataError] = []
    for model, experiment in product(models[1:], experiments):
        try:
            experiment_tests, notes = pair_tests((models[0], model), experiment, by, metrics)
        except DataError as error:
            errors.append(error)
            continue
        tests += experiment_tests
        left_out += [note for note in notes if note not in left_out]
    if not tests:
        refusals = f"; {counted(len(errors) - 1, 'other comparison')} refused as well" if len(errors) > 1 else ""
        reasons = "; ".join(left_out) or f"nothing of {', '.join(experiments)} can be compared"
        raise DataError(f"{errors[0]}{refusals}" if errors else reasons)
    left_out += [f"left out: {error}" for error in errors]
    order = [*HEADLINES, *experiments]
    tests = sorted(correct_tests(tests, "this comparison"), key=lambda test: order.index(test.row.study))
    left_out += note_on_units(tests)
    return Comparison(names, tuple(tests), tuple(left_out), tuple(models), by, tuple(metrics))


def _drawn_values(test: TestedQuantity) -> tuple[float, float, float] | None:
    """Return an effect size (for items, a difference of shares) and its interval's ends; None if any is missing."""
    row = test.row
    value, low, high = row.effect, row.effect_ci_low, row.effect_ci_high
    if row.test == "mcnemar_exact":
        value, low, high = row.estimate, row.ci_low, row.ci_high
    return None if value is None or low is None or high is None else (value, low, high)


def _p_text(value: float | None) -> str:
    return "-" if value is None else pvalue().show(value, "plain")
