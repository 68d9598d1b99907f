"""Find the places to trace: every place of a printed number, or the cell, verdict or step with an address."""

from __future__ import annotations

import json
from collections.abc import Iterator
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

SHOWN = 5  # rows of one address
FIRST = 3  # most places shown per kind
TEXTS = ("reported", "recomputed", "reason")  # ledger columns whose texts contain numbers
PRINTED = ("table", "chapter")
SPARE = "table not in print"
ROOMS = (*PRINTED, "claim", "result", "source", "measurement", SPARE)


@dataclass(frozen=True)
class Hit:
    """A place that prints a number: quality of the match, step, row, column, and printed text."""

    rank: int
    step: Step
    row: TracedRow | None
    column: str
    address: str
    text: str
    origins: tuple[dict[str, Any], ...] = ()


def trace(project: TracedProject, what: str, every: bool = False) -> Iterator[str]:
    """Yield the lines that trace `what`: a number, or an address such as `table:NAME/ROW/COLUMN`.

    For a number, printed places come first: exhibits, then chapters. The first exhibit and the first chapter are traced
    to their source, or if there is neither the first other place; with `every`, all places are listed and traced. Kinds
    of places are searched and reported one after another. Raises SpecError, which suggests the nearest known names or
    numbers, if nothing is found.
    """
    numeral = SearchedNumber.read(what)
    if numeral is None:
        yield from _trace_address(project, what)
        return
    rooms: dict[str, list[Step]] = {room: [] for room in ROOMS}
    in_print = {key for step in project.steps.values() if step.kind.name == "thesis" for key in step.needs}
    for step in project.steps.values():
        rooms[_kind_of_place(step, in_print)].append(step)
    followed: tuple[str, ...] = ROOMS
    for room, steps in rooms.items():
        hits = sorted((hit for step in steps for hit in _hits(project, step, numeral)), key=lambda hit: -hit.rank)
        project.known.save()
        project.numbers.save()
        shown = hits if every else hits[:FIRST]
        for place, hit in enumerate(shown):
            yield f"{hit.address}: {hit.text}" + (" (rounded)" if hit.rank == ROUNDED else "")
            if every or (place == 0 and room in followed):
                yield from _lines_below(project, hit)
        if len(hits) > len(shown):
            yield f"and {len(hits) - len(shown)} more of kind {room}; --all shows them"
        if hits:
            followed = PRINTED
    if followed == ROOMS:
        close = "; ".join(_closest_numbers(project, numeral, [*rooms["table"], *rooms[SPARE]]))
        raise SpecError(f"{what} was not found; nearest: {close}" if close else f"{what} was not found")


def _kind_of_place(step: Step, in_print: set[str]) -> str:
    """Return the kind of place where a step shows numbers."""
    kind = {"ledger": "claim"}.get(step.kind.name, step.kind.name)
    return SPARE if kind == "table" and step.key not in in_print else kind if kind in ROOMS else "result"


def _lines_below(project: TracedProject, hit: Hit) -> Iterator[str]:
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
    """Return whether a row has all the cells `where`; numbers are compared as numbers."""
    for column, wanted in where.items():
        text = row.cells.get(column, "")
        if text != wanted and (cell_number(text) is None or cell_number(text) != cell_number(wanted)):
            return False
    return True


def _hits(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    kind = step.kind.name
    try:
        if kind == "chapter":
            yield from _places_in_chapter(project, step, numeral)
        elif kind == "table":
            yield from _table(project, step, numeral)
        elif step.kind.artifact:
            yield from _places_in_artifact(project, step, numeral)
    except ThesisError as error:
        yield Hit(0, step, None, "", step.key, f"cannot be searched: {str(error).splitlines()[0]}")


def _places_in_chapter(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    for each in project.known.value(step.key, project.stamp(step), lambda: _printed_values(project, step)):
        if numeral.text in tokens(str(each["shown"])):
            origins = each["origins"]
            assert isinstance(origins, list)
            address = f"{step.file}:{each['line']}"
            text = f"{each['shown']} = " + " and ".join(map(_origin_in_words, origins))
            yield Hit(SAME, step, None, "", address, text, tuple(origins))


def _printed_values(project: TracedProject, step: Step) -> list[dict[str, object]]:
    """Return the values that a chapter prints: as its step recorded them, or if out of date by rendering it again."""
    from boundpaper.paper.chapter import render

    if project.built(step):
        return json.loads((project.root / f"out/bound/{step.name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    printed: list[dict[str, object]] = []
    render(text_of(project.root, step.file, SpecError), step.file, project.job(step).frames(), printed)
    return printed


def _origin_in_words(origin: dict[str, object]) -> str:
    where = origin["where"]
    assert isinstance(where, dict)
    keys = ", ".join(f"{name}={text}" for name, text in where.items())
    return f"{origin['artifact']}/{keys}/{origin['column']}"


def _table(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    if project.built(step) and not any(numeral.may_be_in(text_of(project.root, file)) for file in step.targets):
        return
    for row in project.table(step):
        for column, shown in row.shown.items():
            if numeral.text in tokens(shown):
                yield Hit(SAME, step, row, column, f"{step.key}/{row.label}/{column}", shown)


def _closest_numbers(project: TracedProject, numeral: SearchedNumber, tables: list[Step]) -> list[str]:
    """Return the three closest numbers in tables, each with its place, as messages."""
    near: list[tuple[float, str]] = []
    for step in tables:
        with suppress(ThesisError):
            for row in project.table(step):
                for column, shown in row.shown.items():
                    address = f"{step.key}/{row.label}/{column}"
                    near += [
                        (abs(float(each) - float(numeral.text)), f"{each} in {address}") for each in tokens(shown)[:1]
                    ]
    project.known.save()
    return list(dict.fromkeys(text for _, text in sorted(near)))[:3]


def _places_in_artifact(project: TracedProject, step: Step, numeral: SearchedNumber) -> Iterator[Hit]:
    for row in project.rows(step.name) if step.name == "claims" else project.rows_with(step.name, numeral):
        for column, text in row.cells.items():
            if step.name == "claims":
                if column in TEXTS and numeral.text in tokens(text):
                    claim = row.cells["claim"]
                    yield Hit(SAME, step, row, column, f"claim:{claim}", f"{row.cells['verdict']}; {column} {text}")
            elif rank := numeral.fits(text) if text else 0:
                yield Hit(rank, step, row, column, row.place, f"{column} {text}")


def _trace_address(project: TracedProject, what: str) -> Iterator[str]:
    kind, _, rest = what.rpartition(":") if "/" not in what.partition(":")[0] else ("", "", what)
    name, *parts = rest.split("/")
    if kind == "claim":
        yield from _trace_claim(project, rest)
        return
    step = _step_named(project, kind, name)
    if not parts:
        yield ": ".join(filter(None, (step.key, step.about(project.root))))
        yield from trace_cell(project, step, None, "", set())
        return
    rows = project.table(step) if step.kind.name == "table" else project.rows(name)
    if not rows:
        raise SpecError(f"{step.key} has no rows; trace it as {step.key}")
    names = [each.strip() for each in parts[0].split(",")]
    chosen = [row for row in rows if row.is_named(names)]
    if not chosen:
        labels = {text for row in rows for text in [row.label, *row.words]}
        raise SpecError(f"{step.key} has no row {parts[0]!r}; {_near(parts[0], labels)}")
    column = "/".join(parts[1:])
    if column and column not in {**chosen[0].cells, **chosen[0].shown}:
        raise SpecError(f"{step.key} has no column {column!r}; {_near(column, [*chosen[0].shown, *chosen[0].cells])}")
    for row in chosen[:SHOWN]:
        text = row.shown.get(column) or row.cells.get(column, "") if column else row.label
        yield f"{row.place or row.owner + '/' + row.label}" + (f" {column}: {text}" if column else "")
        yield from trace_cell(project, step, row, column, set())
    if len(chosen) > SHOWN:
        yield f"and {len(chosen) - SHOWN} more rows; give more of their texts, separated by commas"


def _step_named(project: TracedProject, kind: str, name: str) -> Step:
    steps = [step for step in project.steps.values() if step.name == name and kind in ("", step.kind.name)]
    if not steps:
        names = [step.key if kind else step.name for step in project.steps.values()]
        raise SpecError(f"no {kind or 'step'} called {name!r}; {_near(f'{kind}:{name}' if kind else name, names)}")
    main_steps = [step for step in steps if step.kind.name != "picture"]
    if len(main_steps) > 1:
        raise SpecError(f"{name!r} is ambiguous: write one of {', '.join(step.key for step in main_steps)}")
    return main_steps[0] if main_steps else steps[0]


def _trace_claim(project: TracedProject, name: str) -> Iterator[str]:
    rows = [row for row in project.rows("claims") if name in (row.cells["claim"], row.cells["claim"].partition(".")[0])]
    if not rows:
        raise SpecError(f"no claim {name!r}; {_near(name, [row.cells['claim'] for row in project.rows('claims')])}")
    places = {row.cells["claim"]: row.cells for row in project.rows("claim_places")}
    for row in rows[:SHOWN]:
        cells, place = row.cells, places.get(row.cells["claim"], {})
        yield f"claim:{cells['claim']}: {cells['verdict']}; {cells['reason']}"
        line = f", line {place['line']}" if place.get("line") else ""
        yield f"  stated in {cells['source']}, {cells['section']}{line}: {cells['statement']}"
        used = place.get("chapters") or "no chapter"
        yield f"  judged by {place.get('function', 'a claim that is no longer there')}; used in {used}"
        step = project.steps.get(f"claim:{name.partition('.')[0]}")
        if step:
            yield from trace_cell(project, step, row, "recomputed", set())
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN} more verdicts, such as claim:{rows[SHOWN].cells['claim']}"


def _near(name: str, known: object) -> str:
    names = [str(each) for each in known]  # type: ignore[attr-defined]
    hint = suggest(name, names)
    if hint:
        return hint.strip()
    return f"nearest: {', '.join(similar_names(name, names, cutoff=0.0))}"
