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
from boundpaper.store.schema import range_fault
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
        tried: set[str] = set()
        waiting = self._results_from(name)
        while True:
            for claim in [
                step for step in self.claims if step not in tried and reads(self.claims[step]) & set(changed)
            ]:
                if changed_verdict := self._changed_verdict(claim, changed):
                    return changed_verdict
            ready = next((step for step in waiting if not reads(self.studies[step]) & set(waiting)), None)
            if ready is None:
                return ""
            waiting.remove(ready)
            if not reads(self.studies[ready]) & set(changed):
                continue
            try:
                result = self.studies[ready](**self._frames_of(self.studies[ready], changed))
            except NOTICED:
                return f"{ready} (refused)"
            if not _frames_agree(result, store.read(self.root, ready)):
                changed[ready] = result

    def _results_from(self, name: str) -> list[str]:
        """Return the results computed from an artifact, directly or indirectly."""
        followers: list[str] = []
        queue = [name]
        while queue:
            source = queue.pop()
            results = [name for name, study in self.studies.items() if source in reads(study) and name not in followers]
            followers += results
            queue += results
        return followers

    def _changed_verdict(self, claim: str, changed_frames: Mapping[str, pd.DataFrame]) -> str:
        function = self.claims[claim]
        if claim not in self._verdicts:
            self._verdicts[claim] = {
                key: item.verdict for key, item in verdicts_by_key(function, self._frames_of(function, {})).items()
            }
        try:
            now = verdicts_by_key(function, self._frames_of(function, changed_frames))
        except NOTICED:
            return f"{claim} (refused)"
        old_verdicts = self._verdicts[claim]
        changed_keys = [key for key, item in now.items() if old_verdicts.get(key) != item.verdict]
        return (f"{claim}.{changed_keys[0]}" if changed_keys[0] else claim) if changed_keys else ""

    def _frames_of(self, step: Step, changed: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        return {name: changed[name] if name in changed else store.read(self.root, name) for name in reads(step)}


def reads(step: Step) -> set[str]:
    """Return the artifacts that a step's parameters name."""
    return {item.name for item in inspect.signature(step).parameters.values() if item.default is item.empty}


def _frames_agree(computed: pd.DataFrame, stored: pd.DataFrame) -> bool:
    try:
        pd.testing.assert_frame_equal(computed.reset_index(drop=True), stored, check_dtype=False, rtol=1e-6, atol=1e-9)
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
        new_text = _mistyped_text(text, kind, digits, chance)
        if new_text is not None and _value_range(new_text) not in (None, _value_range(text)):
            return new_text, kind
    raise DataError(f"{text!r} cannot be changed into another number by a typo")


def _mistyped_text(text: str, kind: str, digits: list[int], chance: random.Random) -> str | None:
    at = chance.choice(digits)
    if kind == "digit":
        return text[:at] + chance.choice([digit for digit in "123456789" if digit != text[at]]) + text[at + 1 :]
    if kind == "exchanged":
        pairs = [place for place in digits if place + 1 in digits and text[place] != text[place + 1]]
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
            new_text, kind = plant_typo(text, chance)
            changes.append(Typo(document, table, number, text, new_text, kind))
    return changes


def detector(project: ProjectInMemory, typo: Typo) -> str:
    """Return the verdict, range or step that detects a typo; empty if none does."""
    frame = store.read(project.root, typo.table)
    texts = list(frame["printed"])
    if texts[typo.row - 1] != typo.before:
        raise DataError(f"{typo.table}, row {typo.row} prints {texts[typo.row - 1]!r}, not {typo.before!r}")
    row = frame.iloc[typo.row - 1]
    value, table = parse(typo.after).value, resource(project.root, typo.table)
    if table and value is not None and range_fault(table, str(row.get("metric") or "printed"), value):
        return f"{typo.table} (refused)"
    texts[typo.row - 1] = typo.after
    return project.detected(typo.table, reprinted(frame, texts))


def main(arguments: list[str]) -> int:
    """Plant the typos, write the table, and print the number detected per document."""
    root = places.project()
    count = int(arguments[0]) if arguments else COUNT
    seed = int(arguments[1]) if len(arguments) > 1 else SEED
    project = ProjectInMemory(root)
    rows = []
    for typo in choose_typos(root, count, seed):
        finder = detector(project, typo)
        rows.append(
            {
                **{"document": typo.document, "table": typo.table, "row": typo.row, "before": typo.before},
                **{"after": typo.after, "typo": typo.kind, "detected": str(bool(finder)).lower(), "by": finder},
            }
        )
        print(
            f"{typo.document} {typo.table} row {typo.row}: {typo.before} -> {typo.after}: {finder or 'not detected'}",
            flush=True,
        )
    if len(arguments) < 2:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write(root / PLANTED, text.getvalue().encode())
    for document in judged_sources(root):
        detected = [row["detected"] == "true" for row in rows if row["document"] == document]
        print(f"{document}: {sum(detected)} of {len(detected)} detected")
    print(f"all: {sum(row['detected'] == 'true' for row in rows)} of {len(rows)} detected")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
