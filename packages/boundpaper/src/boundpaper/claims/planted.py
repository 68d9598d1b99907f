"""Plant typos: change one number of the sources at a time, and test whether a verdict of the ledger changes.

    python -m boundpaper.claims.planted [COUNT [SEED]]

The command draws printed numbers from the tables in `artifacts/sources`, the same numbers each time. It plants a typo
in one number after the other (a wrong digit, two digits swapped, a digit lost, or the sign changed), and runs the
dependent studies and claims again in memory. A typo is detected if a verdict changes, the value is outside the table's
range, or a step raises an error. The command writes `artifacts/sources/planted_typos.csv`; with a SEED, it draws other
numbers and only prints the outcomes.
"""

import csv
import random
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper import places
from boundpaper.claims.mutate import REFUSALS, claims, flip_sign, public_steps, reads, reprinted, verdicts_by_key
from boundpaper.errors import DataError
from boundpaper.store import reader as store
from boundpaper.store.descriptor import resource
from boundpaper.store.documents import judged_sources
from boundpaper.store.files import write
from boundpaper.store.schema import range_fault
from boundpaper.typeset.printed import parse

SEED = 20251122
COUNT = 60
PLANTED_TYPOS = "artifacts/sources/planted_typos.csv"
COLUMNS = ("document", "table", "row", "before", "after", "typo", "detected", "by")
Step = Callable[..., Any]


@dataclass(frozen=True)
class Typo:
    """A planted typo: its document, table and row (from 1), the cell's text before and after, and its kind."""

    document: str
    table: str
    row: int
    before: str
    after: str
    kind: str


class ProjectInMemory:
    """A project's claims, studies and committed artifacts in memory, to run steps on changed artifacts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.claims = claims(root / "analysis/claims")
        self.studies = dict(public_steps(root / "analysis/studies"))
        self._verdicts: dict[str, dict[str, str]] = {}

    def first_effect(self, name: str, frame: pd.DataFrame) -> str:
        """Return the first verdict that changes or step that fails when `frame` replaces the artifact `name`.

        Claims that read the artifact run first, then claims that read results which change with it. Returns an empty
        string if no verdict changes and no step fails.
        """
        new_frames = {name: frame}
        pending = self._results_from(name)
        while True:
            for claim, function in self.claims.items():
                if new_frames.keys() & reads(function) and (verdict := self._changed_verdict(claim, new_frames)):
                    return verdict
            study = next((study for study in pending if not set(pending) & set(reads(self.studies[study]))), None)
            if study is None:
                return ""
            pending.remove(study)
            if not new_frames.keys() & reads(self.studies[study]):
                continue
            try:
                result = self.studies[study](**self._frames_of(self.studies[study], new_frames))
            except REFUSALS:
                return f"{study} (refused)"
            if not _frames_agree(result, store.read(self.root, study)):
                new_frames[study] = result

    def _results_from(self, name: str) -> list[str]:
        """Return the results that are computed from an artifact, directly or through other results."""
        descendants: list[str] = []
        queue = [name]
        while queue:
            source = queue.pop()
            results = [
                name for name, study in self.studies.items() if source in reads(study) and name not in descendants
            ]
            descendants += results
            queue += results
        return descendants

    def _changed_verdict(self, claim: str, new_frames: Mapping[str, pd.DataFrame]) -> str:
        """Return the name of the claim's first row that gets another verdict, marked if refused; empty if none does."""
        function = self.claims[claim]
        if claim not in self._verdicts:
            verdicts = verdicts_by_key(function, self._frames_of(function, {}))
            self._verdicts[claim] = {key: verdict.verdict for key, verdict in verdicts.items()}
        try:
            new_verdicts = verdicts_by_key(function, self._frames_of(function, new_frames))
        except REFUSALS:
            return f"{claim} (refused)"
        for key, verdict in new_verdicts.items():
            if self._verdicts[claim].get(key) != verdict.verdict:
                return f"{claim}.{key}" if key else claim
        return ""

    def _frames_of(self, step: Step, new_frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        return {name: new_frames[name] if name in new_frames else store.read(self.root, name) for name in reads(step)}


def _frames_agree(computed: pd.DataFrame, stored: pd.DataFrame) -> bool:
    try:
        pd.testing.assert_frame_equal(computed.reset_index(drop=True), stored, check_dtype=False, rtol=1e-6, atol=1e-9)
    except AssertionError:
        return False
    return True


def plant_typo(text: str, rng: random.Random) -> tuple[str, str]:
    """Return a printed number with a typo that changes its value, and the kind of the typo.

    Raises DataError when the text has no digit, or no typo changes its value.
    """
    offsets = [match.start() for match in re.finditer(r"\d", text)]
    if not offsets:
        raise DataError(f"{text!r} has no digit in which to plant a typo")
    kinds = ["digit", "exchanged", "lost", "sign"]
    rng.shuffle(kinds)
    for kind in [*kinds, "digit"]:
        new_text = _mistyped_text(text, kind, offsets, rng)
        if new_text is not None and _value_range(new_text) not in (None, _value_range(text)):
            return new_text, kind
    raise DataError(f"{text!r} cannot be changed into another number by a typo")


def _mistyped_text(text: str, kind: str, offsets: list[int], rng: random.Random) -> str | None:
    """Return a text with a typo of a kind, or None if no such typo is possible; `offsets` are those of the digits."""
    offset = rng.choice(offsets)
    if kind == "digit":
        other_digits = [digit for digit in "123456789" if digit != text[offset]]
        return text[:offset] + rng.choice(other_digits) + text[offset + 1 :]
    if kind == "exchanged":
        pairs = [start for start in offsets if start + 1 in offsets and text[start] != text[start + 1]]
        if not pairs:
            return None
        start = rng.choice(pairs)
        return text[:start] + text[start + 1] + text[start] + text[start + 2 :]
    if kind == "lost":
        return text[:offset] + text[offset + 1 :] if len(offsets) > 2 else None
    return flip_sign(text) if text.lstrip()[0] in "+-−" else None


def _value_range(text: str) -> tuple[float, float] | None:
    """Return the rounding interval of a printed number; None for text that is not a number."""
    try:
        number = parse(text)
    except DataError:
        return None
    return (number.low, number.high)


def choose_typos(root: Path, count: int, seed: int = SEED) -> list[Typo]:
    """Return about `count` typos to plant in the tables of printed values, equally many in each document.

    A document with too few numbers gets a typo in each of them.
    """
    rng, documents = random.Random(seed), judged_sources(root)
    cells_by_document: dict[str, list[tuple[str, int, str]]] = {document: [] for document in documents}
    for path in sorted((root / "artifacts/sources").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        if rows and {"printed", "source"} <= rows[0].keys():
            for row_number, row in enumerate(rows, start=1):
                document = row["source"].partition(" ")[0]
                if document in cells_by_document and _value_range(row["printed"]) is not None:
                    cells_by_document[document].append((path.stem, row_number, row["printed"]))
    typos = []
    for document, cells in cells_by_document.items():
        for table, row_number, text in rng.sample(cells, min(len(cells), count // len(documents))):
            new_text, kind = plant_typo(text, rng)
            typos.append(Typo(document, table, row_number, text, new_text, kind))
    return typos


def detector(project: ProjectInMemory, typo: Typo) -> str:
    """Return the verdict, table or step that detects a typo; empty if nothing detects it."""
    frame = store.read(project.root, typo.table)
    texts = list(frame["printed"])
    if texts[typo.row - 1] != typo.before:
        raise DataError(
            f"{typo.table}, row {typo.row} prints {texts[typo.row - 1]!r}, not {typo.before!r}: choose the typos again"
        )
    row = frame.iloc[typo.row - 1]
    value, table = parse(typo.after).value, resource(project.root, typo.table)
    if table and value is not None and range_fault(table, str(row.get("metric") or "printed"), value):
        return f"{typo.table} (refused)"
    texts[typo.row - 1] = typo.after
    return project.first_effect(typo.table, reprinted(frame, texts))


def main(arguments: list[str]) -> int:
    """Plant typos, write the table, print how many are detected per document, and return the exit code."""
    root = places.project()
    count = int(arguments[0]) if arguments else COUNT
    seed = int(arguments[1]) if len(arguments) > 1 else SEED
    project = ProjectInMemory(root)
    rows = []
    for typo in choose_typos(root, count, seed):
        detected_by = detector(project, typo)
        rows.append(
            {
                "document": typo.document, "table": typo.table, "row": typo.row, "before": typo.before,
                "after": typo.after, "typo": typo.kind, "detected": str(bool(detected_by)).lower(), "by": detected_by,
            }
        )  # fmt: skip
        change = f"{typo.document} {typo.table} row {typo.row}: {typo.before} -> {typo.after}"
        print(f"{change}: {detected_by or 'not detected'}", flush=True)
    if len(arguments) < 2:
        table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
        write(root / PLANTED_TYPOS, table.to_csv(index=False, lineterminator="\n").encode())
    for document in judged_sources(root):
        rows_of_document = [row for row in rows if row["document"] == document]
        print(f"{document}: {sum(bool(row['by']) for row in rows_of_document)} of {len(rows_of_document)} detected")
    print(f"all: {sum(bool(row['by']) for row in rows)} of {len(rows)} detected")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
