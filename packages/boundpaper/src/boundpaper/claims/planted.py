"""Plant typos: change one number of the sources at a time, and test whether a verdict of the ledger changes.

    python -m boundpaper.claims.planted [COUNT [SEED]]

draws printed numbers from the tables in `artifacts/sources`, the same numbers each time, plants one typo in each (a
wrong digit, two digits swapped, a digit lost, the sign changed), runs the dependent studies and claims again in memory,
and writes `artifacts/sources/planted_typos.csv`; with a seed, other numbers are drawn and the outcome is only printed.
A typo is detected if a verdict changes, the value is outside the table's range, or a step raises an error.
"""

import csv
import inspect
import io
import random
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper import places
from boundpaper.claims.mutate import NOTICED, claims, flip_sign, public_steps, reprinted, verdicts_by_key
from boundpaper.errors import DataError
from boundpaper.store import reader as store
from boundpaper.store.descriptor import resource
from boundpaper.store.documents import judged_sources
from boundpaper.store.files import write
from boundpaper.store.schema import excluded_number
from boundpaper.typeset.printed import parse

SEED = 20251122
COUNT = 60
PLANTED = "artifacts/sources/planted_typos.csv"
COLUMNS = ("document", "table", "row", "before", "after", "typo", "detected", "by")
Step = Callable[..., Any]


@dataclass(frozen=True)
class Typo:
    """A planted typo: document, table, row (the first below the header is 1), text before and after, kind."""

    document: str
    table: str
    row: int
    before: str
    after: str
    kind: str


class ProjectInMemory:
    """A project's steps and artifacts in memory, to run studies and claims on changed artifacts.

    Results are the committed ones.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.claims = claims(root / "analysis/claims")
        self.studies = dict(public_steps(root / "analysis/studies"))
        self._verdicts: dict[str, dict[str, str]] = {}

    def detected(self, name: str, frame: pd.DataFrame) -> str:
        """Return the first verdict that changes (or step that fails) if `frame` replaces the artifact `name`, else "".

        Claims that read the table run first, then claims that read results which differ because of it.
        """
        changed = {name: frame}
        asked: set[str] = set()
        waiting = self._results_from(name)
        while True:
            for claim in [
                each for each in self.claims if each not in asked and reads(self.claims[each]) & set(changed)
            ]:
                if turned := self._changed_verdict(claim, changed):
                    return turned
            ready = next((each for each in waiting if not reads(self.studies[each]) & set(waiting)), None)
            if ready is None:
                return ""
            waiting.remove(ready)
            if not reads(self.studies[ready]) & set(changed):
                continue
            try:
                made = self.studies[ready](**self._frames_of(self.studies[ready], changed))
            except NOTICED:
                return f"{ready} (refused)"
            if not _frames_agree(made, store.read(self.root, ready)):
                changed[ready] = made

    def _results_from(self, name: str) -> list[str]:
        """Return the results computed from an artifact, directly or indirectly."""
        followers: list[str] = []
        queue = [name]
        while queue:
            made = queue.pop()
            new = [each for each, study in self.studies.items() if made in reads(study) and each not in followers]
            followers += new
            queue += new
        return followers

    def _changed_verdict(self, claim: str, changed: Mapping[str, pd.DataFrame]) -> str:
        function = self.claims[claim]
        if claim not in self._verdicts:
            self._verdicts[claim] = {
                key: each.verdict for key, each in verdicts_by_key(function, self._frames_of(function, {})).items()
            }
        try:
            now = verdicts_by_key(function, self._frames_of(function, changed))
        except NOTICED:
            return f"{claim} (refused)"
        before = self._verdicts[claim]
        turned = [key for key, each in now.items() if before.get(key) != each.verdict]
        return (f"{claim}.{turned[0]}" if turned[0] else claim) if turned else ""

    def _frames_of(self, step: Step, changed: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        return {name: changed[name] if name in changed else store.read(self.root, name) for name in reads(step)}


def reads(step: Step) -> set[str]:
    """Return the artifacts that a step's parameters name."""
    return {each.name for each in inspect.signature(step).parameters.values() if each.default is each.empty}


def _frames_agree(made: pd.DataFrame, kept: pd.DataFrame) -> bool:
    try:
        pd.testing.assert_frame_equal(made.reset_index(drop=True), kept, check_dtype=False, rtol=1e-6, atol=1e-9)
    except AssertionError:
        return False
    return True


def plant_typo(text: str, chance: random.Random) -> tuple[str, str]:
    """Plant one typo that changes the value of a printed number; return the new text and the kind of typo.

    Raises DataError when the text has no digit or no typo changes its value.
    """
    digits = [match.start() for match in re.finditer(r"\d", text)]
    if not digits:
        raise DataError(f"{text!r} has no digit in which to plant a typo")
    kinds = ["digit", "exchanged", "lost", "sign"]
    chance.shuffle(kinds)
    for kind in [*kinds, "digit"]:
        new = _mistyped_text(text, kind, digits, chance)
        if new is not None and _value_range(new) not in (None, _value_range(text)):
            return new, kind
    raise DataError(f"{text!r} cannot be changed into another number by a typo")


def _mistyped_text(text: str, kind: str, digits: list[int], chance: random.Random) -> str | None:
    at = chance.choice(digits)
    if kind == "digit":
        return text[:at] + chance.choice([each for each in "123456789" if each != text[at]]) + text[at + 1 :]
    if kind == "exchanged":
        pairs = [one for one in digits if one + 1 in digits and text[one] != text[one + 1]]
        at = chance.choice(pairs) if pairs else -1
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :] if pairs else None
    if kind == "lost":
        return text[:at] + text[at + 1 :] if len(digits) > 2 else None
    return flip_sign(text) if text.lstrip()[0] in "+-−" else None


def _value_range(text: str) -> tuple[float, float] | None:
    try:
        number = parse(text)
    except DataError:
        return None
    return (number.low, number.high)


def choose_typos(root: Path, count: int, seed: int = SEED) -> list[Typo]:
    """Choose the typos to plant, `count` per document, from all tables of printed values.

    A document with fewer numbers gets fewer typos.
    """
    chance, documents = random.Random(seed), judged_sources(root)
    pool: dict[str, list[tuple[str, int, str]]] = {document: [] for document in documents}
    for path in sorted((root / "artifacts/sources").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        if rows and {"printed", "source"} <= rows[0].keys():
            for number, row in enumerate(rows, start=1):
                document = row["source"].partition(" ")[0]
                if document in pool and _value_range(row["printed"]) is not None:
                    pool[document].append((path.stem, number, row["printed"]))
    changes = []
    for document, cells in pool.items():
        for table, number, text in chance.sample(cells, min(len(cells), count // len(documents))):
            after, kind = plant_typo(text, chance)
            changes.append(Typo(document, table, number, text, after, kind))
    return changes


def detector(project: ProjectInMemory, each: Typo) -> str:
    """Return the verdict, range or step that detects a typo; empty if none does."""
    frame = store.read(project.root, each.table)
    texts = list(frame["printed"])
    if texts[each.row - 1] != each.before:
        raise DataError(f"{each.table}, row {each.row} prints {texts[each.row - 1]!r}, not {each.before!r}")
    row = frame.iloc[each.row - 1]
    value, described = parse(each.after).value, resource(project.root, each.table)
    if described and value is not None and excluded_number(described, str(row.get("metric") or "printed"), value):
        return f"{each.table} (refused)"
    texts[each.row - 1] = each.after
    return project.detected(each.table, reprinted(frame, texts))


def main(arguments: list[str]) -> int:
    """Plant the typos, write the table, and print the number detected per document."""
    root = places.project()
    count = int(arguments[0]) if arguments else COUNT
    seed = int(arguments[1]) if len(arguments) > 1 else SEED
    project = ProjectInMemory(root)
    rows = []
    for each in choose_typos(root, count, seed):
        by = detector(project, each)
        rows.append(
            {
                **{"document": each.document, "table": each.table, "row": each.row, "before": each.before},
                **{"after": each.after, "typo": each.kind, "detected": str(bool(by)).lower(), "by": by},
            }
        )
        print(
            f"{each.document} {each.table} row {each.row}: {each.before} -> {each.after}: {by or 'not detected'}",
            flush=True,
        )
    if len(arguments) < 2:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write(root / PLANTED, text.getvalue().encode())
    for document in judged_sources(root):
        own = [row["detected"] == "true" for row in rows if row["document"] == document]
        print(f"{document}: {sum(own)} of {len(own)} detected")
    print(f"all: {sum(row['detected'] == 'true' for row in rows)} of {len(rows)} detected")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
