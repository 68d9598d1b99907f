"""Trace a cell to the cells and rows from which it was computed, down to sources and measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boundpaper.paper.trace.cells import TracedRow, cell_number, rows_of_files, table_cells
from boundpaper.paper.trace.known import StepCache
from boundpaper.paper.trace.numeral import SearchedNumber
from boundpaper.store.descriptor import files, full_package, package_hash
from boundpaper.store.manifest import manifest

if TYPE_CHECKING:
    from boundpaper.build.graph import Step
    from boundpaper.build.job import Job

ROWS = 4  # most rows shown per artifact
INPUTS = 6  # most artifacts shown per step
TOLERANCE = 1e-9  # relative difference of cells that count as equal


@dataclass
class TracedProject:
    """The parts of a project that a trace uses.

    `job` returns the job of a step, `stamp` a hash of the present content on which the step depends, and `is_built`
    whether its outputs are up to date. `printed` caches what steps print, and `numbers` the numbers in files, both for
    later traces. `digest` returns the hash of a file.
    """

    root: Path
    steps: Mapping[str, Step]
    job: Callable[[Any], Job]
    stamp: Callable[[Any], str]
    is_built: Callable[[Any], bool]
    printed: StepCache
    numbers: StepCache
    digest: Callable[[str], str]
    _rows: dict[str, list[TracedRow]] = field(default_factory=dict, repr=False)

    def rows(self, artifact: str) -> list[TracedRow]:
        """Return the rows of an artifact, read once."""
        if artifact not in self._rows:
            self._rows[artifact] = list(rows_of_files(self.root, artifact, files(self.root, artifact)))
        return self._rows[artifact]

    def rows_with(self, artifact: str, numeral: SearchedNumber) -> list[TracedRow]:
        """Return the rows of an artifact with a cell that may match a numeral."""
        paths = [
            file
            for file in files(self.root, artifact)
            if self.numbers.may_match(self.root, file, self.digest(file), numeral)
        ]
        return list(rows_of_files(self.root, artifact, paths, numeral))

    def table(self, step: Step) -> list[TracedRow]:
        """Return the rows of a table."""
        rows = self.printed.value(step.key, self.stamp(step), lambda: table_cells(self.job(step)))
        return [TracedRow(step.key, "", cells, shown) for cells, shown in rows]

    def origins(self, artifact: str) -> list[str]:
        """Return the origins that the description of an artifact states, each in one line."""

        def all_origins() -> dict[str, list[str]]:
            resources = full_package(self.root)["resources"]
            return {resource["name"]: list(map(_one_line, resource.get("origin") or [])) for resource in resources}

        return self.printed.value("origins", package_hash(self.root), all_origins).get(artifact, [])  # type: ignore[no-any-return]

    def maker(self, artifact: str) -> Step | None:
        """Return the step that makes or checks an artifact."""
        return next((step for step in self.steps.values() if step.kind.artifact and step.name == artifact), None)


def trace_cell(
    project: TracedProject, step: Step, row: TracedRow | None, column: str, seen: set[str], depth: int = 1
) -> Iterator[str]:
    """Yield lines that trace a cell to its inputs; without `column`, trace the whole row; without `row`, the step.

    `seen` collects what has been traced, so that it is printed once. `depth` is the number of indents.
    """
    indent = "  " * depth
    if step.function or step.kind.name == "chapter":
        yield f"{indent}{step.file}:{step.line} {step.key}({', '.join(step.artifacts)})"
    if step.kind.name == "result":
        yield f"{indent}made by: python build.py analyze {step.name}"
    value = cell_number(row.cells.get(column, "")) if row and column else None
    inputs = sorted(_inputs(project, step, row, value), key=lambda related: -related.shared_texts)
    inputs = [related for related in inputs if related.column] or inputs
    for related in inputs[:INPUTS]:
        yield from trace_rows(project, related.artifact, related.rows, related.column, seen, depth)
    if len(inputs) > INPUTS:
        yield f"{indent}and {len(inputs) - INPUTS} more artifacts"


def trace_rows(
    project: TracedProject, artifact: str, rows: list[TracedRow], column: str, seen: set[str], depth: int
) -> Iterator[str]:
    """Yield the lines that trace rows to their inputs; if `column` is given, trace only that cell of the first row."""
    indent = "  " * depth
    maker = project.maker(artifact)
    if maker is None:
        return
    places = ", ".join([row.place for row in rows[:1]] + [f":{row.place.rpartition(':')[2]}" for row in rows[1:ROWS]])
    if column:
        column = column if column in rows[0].cells else "printed"  # the store computes value, low and high from it
        yield f"{indent}= {places} {column} {rows[0].cells[column]!r} ({_row_in_words(rows[0], column)})"
    elif rows:
        more_rows = f" and {len(rows) - ROWS} more rows" if len(rows) > ROWS else ""
        yield f"{indent}computed from {places}{more_rows}"
    else:
        yield f"{indent}reads {', '.join(files(project.root, artifact)[:ROWS])}"
    key = f"{artifact} {places} {column}"
    if key in seen:
        yield f"{indent}  (see above)"
        return
    seen.add(key)
    if maker.kind.name in ("source", "measurement"):
        yield from (f"{indent}  {line}" for line in trace_ends(project, artifact, rows))
    elif maker.kind.name == "result" or rows:
        yield from trace_cell(project, maker, rows[0] if rows else None, column, seen, depth + 1)


def trace_ends(project: TracedProject, artifact: str, rows: list[TracedRow]) -> Iterator[str]:
    """Yield the lines that say where a source was printed, or how a measurement was made."""
    for place in dict.fromkeys(row.cells.get("source", "") for row in rows):
        cells = next((row.cells for row in project.rows("places") if row.cells.get("source") == place), None)
        if place and cells:
            names = [cells[column] for column in ("document", "section", "exhibit") if cells.get(column)]
            yield f"printed in {', '.join(names)}" + (f" [{cells['citation']}]" if cells.get("citation") else "")
    paths = list(dict.fromkeys(row.place.rpartition(":")[0] for row in rows) or files(project.root, artifact)[:ROWS])
    for file in paths[:ROWS]:
        facts = manifest(project.root, file)
        if facts.get("command"):
            versions = ", ".join(f"{name} {version}" for name, version in sorted(facts.get("versions", {}).items()))
            yield f"measured by: {facts['command']}" + (f" ({versions})" if versions else "")
    if not rows or not rows[0].cells.get("source"):
        yield from (f"from {origin}" for origin in project.origins(artifact))


def _one_line(origin: object) -> str:
    return ", ".join(map(str, filter(None, origin.values()))) if isinstance(origin, dict) else str(origin)


class RelatedRows(NamedTuple):
    """Rows of an artifact that may be the inputs of a traced row.

    `shared_texts` is the number of texts that each of them shares with the traced row. `column` is the column of the
    cell that equals the traced value, or empty if no cell does.
    """

    shared_texts: int
    artifact: str
    rows: list[TracedRow]
    column: str


def _inputs(project: TracedProject, step: Step, row: TracedRow | None, value: float | None) -> Iterator[RelatedRows]:
    """Yield the related rows of each artifact that a step reads."""
    for artifact in step.artifacts:
        if project.maker(artifact) is None or row is None:
            yield RelatedRows(0, artifact, [], "")
            continue
        counted_rows = [(len(candidate.words & row.words), candidate) for candidate in project.rows(artifact)]
        top_count = max((count for count, _ in counted_rows), default=0)
        equal_cells = [] if value is None else list(_equal_cells(counted_rows, value, minimum=1 if top_count else 0))
        if equal_cells:
            count, column, match = max(equal_cells, key=itemgetter(0))
            yield RelatedRows(count, artifact, [match], column)
        else:
            nearest = [candidate for count, candidate in counted_rows if top_count and count == top_count]
            yield RelatedRows(top_count, artifact, nearest if len(nearest) < max(len(counted_rows), 2) else [], "")


def _equal_cells(
    counted_rows: Iterable[tuple[int, TracedRow]], value: float, minimum: int
) -> Iterator[tuple[int, str, TracedRow]]:
    """Yield (count, column, row) of each cell that equals `value`, in rows whose count is at least `minimum`."""
    has_few_digits = len(f"{value:g}".replace("-", "").replace(".", "").strip("0")) <= 2  # may match by chance
    for count, row in counted_rows:
        if count < minimum or (not count and has_few_digits):
            continue
        for column, text in row.cells.items():
            number = cell_number(text.removesuffix("%").replace(",", "").lstrip("~≈+"))
            if number is not None and math.isclose(number, value, rel_tol=TOLERANCE, abs_tol=0):
                yield count, column, row


def _row_in_words(row: TracedRow, excluded: str) -> str:
    names = (f"{column} {text}" for column, text in row.cells.items() if column != excluded and text in row.words)
    return ", ".join(islice(names, 4))
