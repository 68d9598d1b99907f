"""Trace a cell to the cells and rows it was computed from, down to sources and measurements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.paper.trace.cells import TracedRow, cell_number, cells_of_files, table_cells
from boundpaper.paper.trace.known import StepCache
from boundpaper.paper.trace.numeral import SearchedNumber
from boundpaper.store.descriptor import files, full_package, package_hash
from boundpaper.store.manifest import manifest

if TYPE_CHECKING:
    from boundpaper.build.graph import Step
    from boundpaper.build.job import Job

ROWS = 4  # most rows shown per artifact
INPUTS = 6  # most artifacts shown per step
CLOSE = 1e-9


@dataclass
class TracedProject:
    """The access to a project that a trace needs.

    `job` returns the job of a step, `stamp` a hash of the present content it depends on, and `built` whether its
    outputs are up to date. `known` caches results of earlier traces, `numbers` the numbers of files.
    """

    root: Path
    steps: Mapping[str, Step]
    job: Callable[[Any], Job]
    stamp: Callable[[Any], str]
    built: Callable[[Any], bool]
    known: StepCache
    numbers: StepCache
    digest: Callable[[str], str]
    _rows: dict[str, list[TracedRow]] = field(default_factory=dict, repr=False)

    def rows(self, artifact: str) -> list[TracedRow]:
        """Return the rows of an artifact, read once."""
        if artifact not in self._rows:
            self._rows[artifact] = list(cells_of_files(self.root, artifact, files(self.root, artifact)))
        return self._rows[artifact]

    def rows_with(self, artifact: str, numeral: SearchedNumber) -> list[TracedRow]:
        """Return the rows of an artifact with a cell that may match a numeral."""
        paths = [
            file
            for file in files(self.root, artifact)
            if self.numbers.may_match(self.root, file, self.digest(file), numeral)
        ]
        return list(cells_of_files(self.root, artifact, paths, numeral))

    def table(self, step: Step) -> list[TracedRow]:
        """Return the rows of a table."""
        rows = self.known.value(step.key, self.stamp(step), lambda: table_cells(self.job(step)))
        return [TracedRow(step.key, "", cells, shown) for cells, shown in rows]

    def origins(self, artifact: str) -> list[str]:
        """Return where an artifact comes from, as its description says."""

        def all_origins() -> dict[str, list[str]]:
            entries = full_package(self.root)["resources"]
            return {entry["name"]: list(map(_one_line, entry.get("origin") or [])) for entry in entries}

        return self.known.value("origins", package_hash(self.root), all_origins).get(artifact, [])  # type: ignore[no-any-return]

    def maker(self, artifact: str) -> Step | None:
        """Return the step that makes or checks an artifact."""
        return next((step for step in self.steps.values() if step.kind.artifact and step.name == artifact), None)


def trace_cell(
    project: TracedProject, step: Step, row: TracedRow | None, column: str, seen: set[str], depth: int = 1
) -> Iterator[str]:
    """Yield the lines that trace a cell to its inputs, or without column a whole row, or without row a whole step."""
    pad = "  " * depth
    if step.function or step.kind.name == "chapter":
        yield f"{pad}{step.file}:{step.line} {step.key}({', '.join(step.artifacts)})"
    if step.kind.name == "result":
        yield f"{pad}made by: python build.py analyze {step.name}"
    value = cell_number(row.cells.get(column, "")) if row and column else None
    ranked = sorted(_input_rows(project, step, row, value), key=lambda each: -each[0])
    chosen = [each for each in ranked if each[3]] or ranked
    for _, artifact, rows, where in chosen[:INPUTS]:
        yield from trace_rows(project, artifact, rows, where, seen, depth)
    if len(chosen) > INPUTS:
        yield f"{pad}and {len(chosen) - INPUTS} more artifacts"


def trace_rows(
    project: TracedProject, artifact: str, rows: list[TracedRow], where: str, seen: set[str], depth: int
) -> Iterator[str]:
    """Yield the lines that trace rows of an artifact to their inputs; with a column, that cell of the first row."""
    pad = "  " * depth
    maker = project.maker(artifact)
    if maker is None:
        return
    places = ", ".join(f":{row.place.rpartition(':')[2]}" if nth else row.place for nth, row in enumerate(rows[:ROWS]))
    more = f" and {len(rows) - ROWS} more rows" if len(rows) > ROWS else ""
    if where:
        where = where if where in rows[0].cells else "printed"  # the store computes value, low and high from it
        yield f"{pad}= {places} {where} {rows[0].cells[where]!r} ({_place_in_words(rows[0], where)})"
    elif rows:
        yield f"{pad}computed from {places}{more}"
    else:
        yield f"{pad}reads {', '.join(files(project.root, artifact)[:ROWS])}"
    again = f"{artifact} {places} {where}"
    if again in seen:
        yield f"{pad}  (see above)"
        return
    seen.add(again)
    if maker.kind.name in ("source", "measurement"):
        yield from (f"{pad}  {line}" for line in trace_ends(project, artifact, rows))
    elif maker.kind.name == "result" or rows:
        yield from trace_cell(project, maker, rows[0] if rows else None, where, seen, depth + 1)


def trace_ends(project: TracedProject, artifact: str, rows: list[TracedRow]) -> Iterator[str]:
    """Yield the lines that say where a source was printed, or how a measurement was made."""
    for place in dict.fromkeys(row.cells.get("source", "") for row in rows):
        cells = next((row.cells for row in project.rows("places") if row.cells.get("source") == place), None)
        if place and cells:
            parts = [cells[each] for each in ("document", "section", "exhibit") if cells.get(each)]
            yield f"printed in {', '.join(parts)}" + (f" [{cells['citation']}]" if cells.get("citation") else "")
    paths = list(dict.fromkeys(row.place.rpartition(":")[0] for row in rows) or files(project.root, artifact)[:ROWS])
    for file in paths[:ROWS]:
        note = manifest(project.root, file)
        if note.get("command"):
            versions = ", ".join(f"{name} {version}" for name, version in sorted(note.get("versions", {}).items()))
            yield f"measured by: {note['command']}" + (f" ({versions})" if versions else "")
    if not rows or not rows[0].cells.get("source"):
        yield from (f"from {origin}" for origin in project.origins(artifact))


def _one_line(origin: object) -> str:
    return ", ".join(str(part) for part in origin.values() if part) if isinstance(origin, dict) else str(origin)


def _input_rows(
    project: TracedProject, step: Step, row: TracedRow | None, value: float | None
) -> Iterator[tuple[int, str, list[TracedRow], str]]:
    """Yield for each artifact that a step reads: nearness, name, the related rows, and the column of an equal cell.

    The column is empty if no cell has the value; nearness is the number of texts shared with `row`.
    """
    for artifact in step.artifacts:
        maker = project.maker(artifact)
        if maker is None or row is None:
            yield 0, artifact, [], ""
            continue
        shared = [(len(other.words & row.words), other) for other in project.rows(artifact)]
        best = max((count for count, _ in shared), default=0)
        same = list(_equal_cells(shared, value, need=1 if best else 0)) if value is not None else []
        if same:
            count, column, other = max(same, key=lambda found: found[0])
            yield count, artifact, [other], column
        else:
            near = [other for count, other in shared if best and count == best]
            yield best, artifact, near if len(near) < max(len(shared), 2) else [], ""


def _equal_cells(
    shared: Iterable[tuple[int, TracedRow]], value: float | None, need: int
) -> Iterator[tuple[int, str, TracedRow]]:
    assert value is not None
    telling = len(f"{value:g}".replace("-", "").replace(".", "").strip("0")) > 2  # few digits match by chance
    for count, row in shared:
        if count < need or not (count or telling):
            continue
        for column, text in row.cells.items():
            number = cell_number(text.removesuffix("%").replace(",", "").lstrip("~≈+"))
            if number is not None and math.isclose(number, value, rel_tol=CLOSE, abs_tol=0):
                yield count, column, row


def _place_in_words(row: TracedRow, but: str) -> str:
    parts = [f"{column} {text}" for column, text in row.cells.items() if column != but and text in row.words]
    return ", ".join(parts[:4])
