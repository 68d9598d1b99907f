"""A comparison of measured models: its tests, and their display as a table, a figure, a report and HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from keyquery.measure.summary import align_lines, number_text

if TYPE_CHECKING:
    import pandas as pd

    from boundpaper.figures.spec import Figure
    from boundpaper.tables.spec import Table

TESTS = {
    "sign_flips": "exact flips of the signs of paired differences",
    "mcnemar_exact": "McNemar's exact test of the same items",
    "welch_t": "Welch's t of two groups of heads, which are not paired",
}
EFFECTS = {"d_z": "$d_z$", "d": "$d$", "odds_ratio": "odds ratio"}
FAMILY = "this comparison"
GUARDS_BELOW_TABLE = (guards.DEPENDENT_UNITS, guards.MIXED_PROTOCOL)
"""Guards that are explained once below the table; other guards are in the note of each row."""
NAME = "comparison"
"""Common file name of a report's files."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of models with the first of them, the reference; `compare` returns one.

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
        """Tests, one row each: experiment, quantity, models, means, and the columns of `boundpaper.statistics`."""
        table = frame(test.row for test in self.tests).rename(columns={"study": "experiment"})
        facts: dict[str, list[Any]] = {
            "quantity": [test.quantity.label for test in self.tests],
            "values_in": [test.quantity.unit for test in self.tests],
            "reference": [test.models[0] for test in self.tests],
            "model": [test.models[1] for test in self.tests],
            "reference_mean": [test.means[0] for test in self.tests],
            "model_mean": [test.means[1] for test in self.tests],
        }
        for column, (name, values) in enumerate(facts.items(), start=1):
            table.insert(column, name, values)
        return table

    def __str__(self) -> str:
        header = ("experiment", "quantity", "model", "difference", "95 % interval", "effect", "p", "Holm", "n", "unit")
        lines: list[tuple[str, ...]] = [header]
        for test in self.tests:
            row, unit = test.row, f" ({test.quantity.unit})" if test.quantity.unit else ""
            complete = row.ci_low is not None and row.ci_high is not None
            span = f"[{number_text(row.ci_low)}, {number_text(row.ci_high)}]" if complete else ""
            numbers = (number_text(row.estimate), span, f"{row.effect_name} {number_text(row.effect)}")
            counts = (_p_text(row.p_value), _p_text(row.p_adjusted), str(row.n), row.unit)
            lines.append((row.study, test.quantity.label + unit, test.models[1], *numbers, *counts))
        if len(self.models) == 2:
            lines = [(*line[:2], *line[3:]) for line in lines]
        return "\n".join(
            [f"{' and '.join(self.models[1:])} minus {self.models[0]}", "", align_lines(lines), "", *self.notes]
        )

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
        rows["shown"] = [
            f"{name} ({unit})" if unit else name for name, unit in zip(rows["quantity"], rows["values_in"], strict=True)
        ]
        effects = rows["effect_name"] = rows["effect_name"].map(EFFECTS)
        shared_name = effects.iloc[0] if effects.nunique() == 1 else ""  # then the header gives it, else a column
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
        """Return a figure of standardised differences, or for items differences of shares, with intervals.

        Raises
        ------
        DataError
            If no difference has an interval.
        """
        from boundpaper.figures.series import Forest
        from boundpaper.figures.spec import Axis, Figure, Panel, Rule

        short, panels = short_names(self.models), []
        for label, tests in (
            ("standardised difference", [test for test in self.tests if test.row.test != "mcnemar_exact"]),
            ("difference (percentage points)", [test for test in self.tests if test.row.test == "mcnemar_exact"]),
        ):
            series = []
            for model in self.models[1:]:
                drawn = [test for test in tests if test.models[1] == model and _interval_ends(test)]
                if drawn:
                    rows = [test.quantity.label for test in drawn]
                    middle, low, high = zip(*map(_interval_ends, drawn), strict=True)
                    groups = [test.row.study.replace("_", " ") for test in drawn]
                    series.append(
                        Forest(rows=rows, estimate=middle, low=low, high=high, groups=groups, label=short[model])
                    )
            if series:
                panels.append(Panel(series=series, x=Axis(label=label, zero=True), rules=[Rule(at=0.0, axis="x")]))
        if not panels:
            raise DataError("no difference has an interval to draw; measure more units")
        undrawn = [f"{test.row.study}: {test.quantity.label}" for test in self.tests if _interval_ends(test) is None]
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
        rows: list[dict[str, Any]] = [
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
        return json.dumps({"models": self.models, "tests": rows, "left_out": self.left_out}, indent=1)

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
        paths = [target / f"{NAME}{suffix}" for suffix in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            write(path, text.encode())
        figure_paths, figure_note = self._figure_files(target)
        page = self.to_markdown()
        picture = next((path.name for path in figure_paths if path.suffix == ".png"), "")
        page += f"\n![{self.figure().caption}]({picture})\n" if picture else ""
        page += f"\n{figure_note}\n" if figure_note else ""
        write(target / f"{NAME}.md", page.encode())
        return [target / f"{NAME}.md", *paths, *figure_paths]

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
    """Return a comparison of models with the first one.

    Names of models must differ. If `experiments` is empty, all that were run on every model are compared. `by` is the
    unit to pair by, by default texts or items if the rows name them, else seeds, else heads. If `metrics` are given,
    they are tested in all their conditions, instead of those in an experiment's summary. Raises DataError if models
    were measured with different settings, a metric is unknown, nothing can be paired, or no test can reach p < .05.
    """
    names = tuple(model.name for model in models)
    if len(names) < 2:
        raise DataError("only one model is named; name two or more to compare")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{repeated[0]} is compared with itself; name another model, or give the second another --name")
    shared, left_out = common_experiments(models, experiments)
    measured = dict.fromkeys(metric for model in models for name in shared for metric in model.tables[name]["metric"])
    for metric in metrics:
        if metric not in measured:
            raise DataError(f"no metric {metric!r} in {', '.join(shared)}{or_known(metric, measured)}")
    tests: list[TestedQuantity] = []
    errors: list[DataError] = []
    for model, experiment in ((model, name) for model in models[1:] for name in shared):
        try:
            experiment_tests, notes = pair_tests((models[0], model), experiment, by, metrics)
        except DataError as error:
            errors.append(error)
            continue
        tests += experiment_tests
        left_out += [note for note in notes if note not in left_out]
    if not tests:
        more = f"; {counted(len(errors) - 1, 'other comparison')} refused as well" if len(errors) > 1 else ""
        reasons = "; ".join(left_out) or f"nothing of {', '.join(shared)} can be compared"
        raise DataError(f"{errors[0]}{more}" if errors else reasons)
    left_out += [f"left out: {error}" for error in errors]
    order = [*HEADLINES, *shared]
    corrected = sorted(correct_tests(tests, FAMILY), key=lambda test: order.index(test.row.study))
    left_out += note_on_units(corrected)
    return Comparison(names, tuple(corrected), tuple(left_out), tuple(models), by, tuple(metrics))


def _interval_ends(test: TestedQuantity) -> tuple[float, float, float] | None:
    """Return the value to draw, of the difference or of its effect size, and the ends of its interval; or None."""
    row = test.row
    middle, low, high = row.effect, row.effect_ci_low, row.effect_ci_high
    if row.test == "mcnemar_exact":
        middle, low, high = row.estimate, row.ci_low, row.ci_high
    return None if middle is None or low is None or high is None else (middle, low, high)


def _p_text(value: float | None) -> str:
    return "-" if value is None else pvalue().show(value, "plain")
