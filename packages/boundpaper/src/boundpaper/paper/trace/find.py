"""Find what to trace: the places that print a number, or the cell, verdict or step that an address names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError, ThesisError
from boundpaper.paper.trace.cells import TracedRow, cell_number
from boundpaper.paper.trace.descent import TracedProject, trace_cell, trace_ends, trace_rows
from boundpaper.paper.trace.numeral import ROUNDED, SAME, SearchedNumber, tokens
from boundpaper.store.text_file import text_of
from boundpaper.suggestions import similar_names, suggest

if TYPE_CHECKING:
    from boundpaper.build.graph import Step

SHOWN = 5  # most rows shown for an address
FIRST = 3  # most places shown of each kind
TEXTS = ("reported", "recomputed", "reason")  # ledger columns whose texts contain numbers
PRINTED = ("table", "chapter")
UNPRINTED = "table not in print"
KINDS = (*PRINTED, "claim", "result", "source", "measurement", UNPRINTED)  # kinds of places, in the order of the search


@dataclass(frozen=True)
class Hit:
    """A place that prints the number: rank of the match (`match_rank`), step, row, column, address and printed text."""

    rank: int
    step: Step
    row: TracedRow | None
    column: str
    address: str
    text: str
    origins: tuple[dict[str, Any], ...] = ()


def trace(project: TracedProject, query: str, all_places: bool = False) -> Iterator[str]:
    """Yield the lines that trace `query`: a number, or an address such as `table:NAME/ROW/COLUMN`.

    A number is searched for in one kind of places after another, first in tables and chapters. The first table and the
    first chapter that print it are traced to their source; if there is neither, the first other place is traced. With
    `all_places`, all places are listed and traced. Raises SpecError, which suggests the nearest known names or numbers,
    if nothing is found.
    """
    numeral = SearchedNumber.read(query)
    if numeral is None:
        yield from _trace_address(project, query)
        return
    steps_by_kind: dict[str, list[Step]] = {kind: [] for kind in KINDS}
    printed_keys = {key for step in project.steps.values() if step.kind.name == "thesis" for key in step.needs}
    for step in project.steps.values():
        steps_by_kind[_kind_of_place(step, printed_keys)].append(step)
    traced_kinds: tuple[str, ...] = KINDS
    for kind, steps in steps_by_kind.items():
        hits = sorted((hit for step in steps for hit in _hits(project, step, numeral)), key=lambda hit: -hit.rank)
        project.printed.save()
        project.numbers.save()
        first_hits = hits if all_places else hits[:FIRST]
        for hit in first_hits:
            yield f"{hit.address}: {hit.text}" + (" (rounded)" if hit.rank == ROUNDED else "")
            if all_places or (hit is first_hits[0] and kind in traced_kinds):
                yield from _trace_hit(project, hit)
        if len(hits) > len(first_hits):
            yield f"and {len(hits) - len(first_hits)} more of kind {kind}; --all shows them"
        if hits:
            traced_kinds = PRINTED
    if traced_kinds == KINDS:
        tables = [*steps_by_kind["table"], *steps_by_kind[UNPRINTED]]
        nearest = "; ".join(_closest_numbers(project, numeral, tables))
        raise SpecError(f"{query} was not found; nearest: {nearest}" if nearest else f"{query} was not found")


def _kind_of_place(step: Step, printed_keys: set[str]) -> str:
    """Return the kind of place where a step shows numbers."""
    kind = {"ledger": "claim"}.get(step.kind.name, step.kind.name)
    return UNPRINTED if kind == "table" and step.key not in printed_keys else kind if kind in KINDS else "result"


def _trace_hit(project: TracedProject, hit: Hit) -> Iterator[str]:
    """Yield the lines that trace the number at a place to its inputs."""
    seen: set[str] = set()
    if hit.step.kind.name in ("source", "measurement") and hit.row:
        yield from (f"  {line}" for line in trace_ends(project, hit.step.name, [hit.row]))
    elif hit.origins:
        for origin in hit.origins:
            rows = [row for row in project.rows(origin["artifact"]) if _row_is_named(row, origin["where"])]
            yield from trace_rows(project, origin["artifact"], rows[:1], origin["column"] if rows else "", seen, 1)
    elif hit.step.kind.name == "ledger" and hit.row:
        step = project.steps.get(f"claim:{hit.row.cells['claim'].partition('.')[0]}")
        if step:
            yield from trace_cell(project, step, hit.row, hit.column, seen)
    else:
        yield from trace_cell(project, hit.step, hit.row, hit.column, seen)


def _row_is_named(row: TracedRow, where: dict[str, str]) -> bool:
    """Return whether a row has every cell of `where`, given by column; numbers are compared as numbers."""
    for column, cell in where.items():
        text = row.cells.get(column, "")
        if text != cell and (cell_number(text) is None or cell_number(text) != cell_number(cell)):
            return False
    return True


def _hits(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    kind = step.kind.name
    try:
        if kind == "chapter":
            yield from _places_in_chapter(project, step, numeral)
        elif kind == "table":
            yield from _places_in_table(project, step, numeral)
        elif step.kind.artifact:
            yield from _places_in_artifact(project, step, numeral)
    except ThesisError as error:
        yield Hit(0, step, None, "", step.key, f"cannot be searched: {str(error).splitlines()[0]}")


def _places_in_chapter(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    for value in project.printed.value(step.key, project.stamp(step), lambda: _printed_values(project, step)):
        if numeral.text in tokens(value["shown"]):
            text = f"{value['shown']} = " + " and ".join(map(_origin_in_words, value["origins"]))
            yield Hit(SAME, step, None, "", f"{step.file}:{value['line']}", text, tuple(value["origins"]))


def _printed_values(project: TracedProject, step: Step) -> list[dict[str, Any]]:
    """Return the values that a chapter prints: read an up-to-date record of its build, else render the chapter."""
    from boundpaper.paper.chapter import render

    if project.is_built(step):
        return json.loads((project.root / f"out/bound/{step.name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    printed: list[dict[str, Any]] = []
    render(text_of(project.root, step.file, SpecError), step.file, project.job(step).frames(), printed)
    return printed


def _origin_in_words(origin: dict[str, Any]) -> str:
    keys = ", ".join(f"{name}={text}" for name, text in origin["where"].items())
    return f"{origin['artifact']}/{keys}/{origin['column']}"


def _places_in_table(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    if project.is_built(step) and not any(numeral.may_be_in(text_of(project.root, file)) for file in step.targets):
        return
    for row in project.table(step):
        for column, text in row.shown.items():
            if numeral.text in tokens(text):
                yield Hit(SAME, step, row, column, f"{step.key}/{row.label}/{column}", text)


def _closest_numbers(project: TracedProject, numeral: SearchedNumber, tables: list[Step]) -> list[str]:
    """Return the three numbers in tables that are closest to a numeral, each with its address, in words."""
    numbers: list[tuple[float, str]] = []
    for step in tables:
        with suppress(ThesisError):
            for row in project.table(step):
                for column, text in row.shown.items():
                    for digits in tokens(text)[:1]:
                        distance = abs(float(digits) - float(numeral.text))
                        numbers.append((distance, f"{digits} in {step.key}/{row.label}/{column}"))
    project.printed.save()
    return list(dict.fromkeys(words for _, words in sorted(numbers)))[:3]


def _places_in_artifact(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    for row in project.rows(step.name) if step.name == "claims" else project.rows_with(step.name, numeral):
        for column, text in row.cells.items():
            if step.name == "claims":
                if column in TEXTS and numeral.text in tokens(text):
                    claim = row.cells["claim"]
                    yield Hit(SAME, step, row, column, f"claim:{claim}", f"{row.cells['verdict']}; {column} {text}")
            elif rank := numeral.match_rank(text) if text else 0:
                yield Hit(rank, step, row, column, row.place, f"{column} {text}")


def _trace_address(project: TracedProject, address: str) -> Iterator[str]:
    kind, _, path = address.rpartition(":") if "/" not in address.partition(":")[0] else ("", "", address)
    if kind == "claim":
        yield from _trace_claim(project, path)
        return
    name, _, row_and_column = path.partition("/")
    row_name, _, column = row_and_column.partition("/")
    step = _step_named(project, kind, name)
    if "/" not in path:
        yield ": ".join(filter(None, (step.key, step.about(project.root))))
        yield from trace_cell(project, step, None, "", set())
        return
    rows = project.table(step) if step.kind.name == "table" else project.rows(name)
    if not rows:
        raise SpecError(f"{step.key} has no rows; trace {step.key} without a row")
    names = [text.strip() for text in row_name.split(",")]
    matches = [row for row in rows if row.is_named(names)]
    if not matches:
        labels = {text for row in rows for text in [row.label, *row.words]}
        raise SpecError(f"{step.key} has no row {row_name!r}; {_nearest(row_name, labels)}")
    columns = [*matches[0].shown, *matches[0].cells]
    if column and column not in columns:
        raise SpecError(f"{step.key} has no column {column!r}; {_nearest(column, columns)}")
    for row in matches[:SHOWN]:
        text = row.shown.get(column) or row.cells.get(column, "") if column else row.label
        yield f"{row.place or row.owner + '/' + row.label}" + (f" {column}: {text}" if column else "")
        yield from trace_cell(project, step, row, column, set())
    if len(matches) > SHOWN:
        yield f"and {len(matches) - SHOWN} more rows; give more of their texts, separated by commas"


def _step_named(project: TracedProject, kind: str, name: str) -> Step:
    steps = [step for step in project.steps.values() if step.name == name and kind in ("", step.kind.name)]
    if not steps:
        names = [step.key if kind else step.name for step in project.steps.values()]
        raise SpecError(f"no {kind or 'step'} called {name!r}; {_nearest(f'{kind}:{name}' if kind else name, names)}")
    main_steps = [step for step in steps if step.kind.name != "picture"]
    if len(main_steps) > 1:
        raise SpecError(f"{name!r} is ambiguous: write one of {', '.join(step.key for step in main_steps)}")
    return main_steps[0] if main_steps else steps[0]


def _trace_claim(project: TracedProject, name: str) -> Iterator[str]:
    rows = [row for row in project.rows("claims") if name in (row.cells["claim"], row.cells["claim"].partition(".")[0])]
    if not rows:
        raise SpecError(f"no claim {name!r}; {_nearest(name, [row.cells['claim'] for row in project.rows('claims')])}")
    places = {row.cells["claim"]: row.cells for row in project.rows("claim_places")}
    for row in rows[:SHOWN]:
        cells, place = row.cells, places.get(row.cells["claim"], {})
        yield f"claim:{cells['claim']}: {cells['verdict']}; {cells['reason']}"
        line = f", line {place['line']}" if place.get("line") else ""
        yield f"  stated in {cells['source']}, {cells['section']}{line}: {cells['statement']}"
        chapters = place.get("chapters") or "no chapter"
        yield f"  judged by {place.get('function', 'a claim that is no longer there')}; used in {chapters}"
        step = project.steps.get(f"claim:{name.partition('.')[0]}")
        if step:
            yield from trace_cell(project, step, row, "recomputed", set())
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN} more verdicts, such as claim:{rows[SHOWN].cells['claim']}"


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion of the known names that are nearest to a name."""
    names = list(known)
    return suggest(name, names).strip() or f"nearest: {', '.join(similar_names(name, names, cutoff=0.0))}"
