"""Compare the results, cell by cell, with the results at a git revision."""

import csv
import io
import itertools
import math
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.canonical import same_cells
from boundpaper.store.text_file import MARK

Columns = dict[str, list[str]]
"""A table's columns by name, with cells as text."""
PAGE = 45
"""Number of lines on a page."""


@dataclass(frozen=True)
class Change:
    """A change of a cell, row or column of a result; `location` names the row and the column."""

    result: str
    location: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"result {self.result}: {self.description}"

    @property
    def description(self) -> str:
        """Return the location and the values before and after."""
        return f"{self.location}: {self.before or '(none)'} -> {self.after or '(none)'}{self._size_in_words()}"

    @property
    def weight(self) -> tuple[int, float]:
        """Return a sort key, which is largest for verdicts, then for added or removed cells, then for large changes."""
        if self.result == "claims" and self.location.endswith(", verdict"):
            return 3, 0.0
        if not self.before or not self.after:
            return 2, 0.0
        try:
            before, after = float(self.before), float(self.after)
        except ValueError:
            return 1, 0.0
        return 1, abs(after - before) / max(abs(before), abs(after), 1e-300)

    def _size_in_words(self) -> str:
        try:
            before, after = float(self.before), float(self.after)
        except ValueError:
            return ""
        percent = f", {100 * (after / before - 1):+.3g} %" if before else ""
        return f" ({after - before:+.4g}{percent})"


def summary(changes: Sequence[Change], most: int = PAGE) -> list[str]:
    """Return at most `most` lines on changes: one line each if all fit, else verdicts and one line for each result."""
    ranked = sorted(changes, key=lambda change: change.weight, reverse=True)
    changes_by_result: dict[str, list[Change]] = {}
    for change in ranked:
        changes_by_result.setdefault(change.result, []).append(change)
    verdicts = [change for change in ranked if change.weight[0] == 3]
    n_results = len(changes_by_result)
    totals = f"{len(changes)} difference{'s' * (len(changes) > 1)} in {n_results} result{'s' * (n_results > 1)}"
    lines = [f"{totals}; {len(verdicts)} of verdicts"]
    if len(changes) < most:
        return lines + [str(change) for change in changes]
    most_verdicts = most // 3
    lines += [str(change) for change in verdicts[:most_verdicts]]
    if len(verdicts) > most_verdicts:
        n_unlisted = len(verdicts) - most_verdicts
        lines.append(f"... and {n_unlisted} more verdicts; `python build.py claims --check` names them")
    most_results = most - len(lines) - 1
    for name, (largest, *smaller) in list(changes_by_result.items())[:most_results]:
        lines.append(f"result {name}: {len(smaller) + 1} differences" if smaller else str(largest))
        if smaller and largest.weight[0] < 3:
            lines[-1] += f", the largest {largest.description}"
    more = f"... and {n_results - most_results} more results; " if n_results > most_results else ""
    return [*lines, f"{more}--all lists every cell"]


def at_revision(root: Path, revision: str, path: str) -> str | None:
    """Return a file's text at a git revision, or None if the revision lacks the file.

    Raises DataError when the folder is not a git checkout, or the revision is unknown.
    """
    try:
        verification = _run_git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except FileNotFoundError:
        raise DataError("git is not installed; install it: apt-get install -y git") from None
    if verification.returncode:
        if _run_git(root, "rev-parse", "--git-dir").returncode == 0:
            raise DataError(f"no revision {revision!r}; `git log --oneline` lists them")
        raise DataError(f"{root} is not a git repository; create one: git init && git add -A && git commit -m 'Begin'")
    result = _run_git(root, "show", f"{revision}:./{path}")  # the project may be a folder of a larger repository
    return result.stdout if result.returncode == 0 else None


def _run_git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)


def files_at(root: Path, revision: str, folder: str, suffix: str) -> set[str]:
    """Return the names of a folder's files with `suffix` at a git revision, without the suffix."""
    at_revision(root, revision, folder)
    listing = _run_git(root, "ls-tree", "--name-only", f"{revision}:./{folder}")
    return {name.removesuffix(suffix) for name in listing.stdout.split("\n") if name.endswith(suffix)}


def results(root: Path, revision: str, tolerance: float, built: Path) -> Iterator[Change]:
    """Yield the changes of the results since a git revision.

    `built` is the folder of the present results. Numbers whose relative difference is at most `tolerance` count as
    equal.
    """
    folder = "artifacts/results"
    for name in sorted({path.stem for path in built.glob("*.csv")} | files_at(root, revision, folder, ".csv")):
        path = built / f"{name}.csv"
        old = at_revision(root, revision, f"{folder}/{name}.csv")
        new = path.read_text(encoding="utf-8-sig") if path.is_file() else None
        if old is None or new is None:
            yield Change(name, "whole table", "" if old is None else "present", "" if new is None else "present")
        elif old != new:
            yield from compare(name, old, new, tolerance)


def compare(name: str, before: str, after: str, tolerance: float) -> list[Change]:
    """Return the changes of a result, given its CSV text before and after."""
    return list(_table_changes(name, _columns_of(before), _columns_of(after), tolerance))


@lru_cache(3)
def _columns_of(text: str) -> Columns:
    """Return the columns of a CSV text; columns are cached, since a history compares each version twice."""
    header, *rows = [row for row in csv.reader(io.StringIO(text.removeprefix(MARK), newline="")) if row] or [[]]
    if not header or max(map(len, rows), default=0) > len(header):
        raise ValueError("not a table: it has no header, or a row with more cells than the header")
    columns = itertools.zip_longest(header, *rows, fillvalue="")
    return {name: list(cells) for name, *cells in columns}


def _table_changes(result: str, old: Columns, new: Columns, tolerance: float) -> Iterator[Change]:
    for column in [name for name in old if name not in new]:
        yield Change(result, f"column {column}", "present", "")
    for column in [name for name in new if name not in old]:
        yield Change(result, f"column {column}", "", "present")
    shared_columns = [name for name in new if name in old]
    keys = _key_columns({name: old[name] for name in shared_columns}, {name: new[name] for name in shared_columns})
    old_rows, new_rows = _rows_by_name(old, keys), _rows_by_name(new, keys)
    for key in old_rows:
        if key not in new_rows:
            yield Change(result, f"row {key}", "present", "")
    shared_rows = [key for key in new_rows if key in old_rows]
    changes_by_row: dict[str, list[Change]] = {key: [] for key in shared_rows}
    for column in shared_columns:
        old_cells = [old[column][old_rows[key]] for key in shared_rows]
        new_cells = [new[column][new_rows[key]] for key in shared_rows]
        if old_cells == new_cells:
            continue
        differs = ~same_cells(column, pd.Series(old_cells, dtype=object), pd.Series(new_cells, dtype=object), tolerance)
        for key, before, after in itertools.compress(zip(shared_rows, old_cells, new_cells, strict=True), differs):
            changes_by_row[key].append(Change(result, f"{key}, {column}", before, after))
    for key in new_rows:
        yield from changes_by_row[key] if key in old_rows else [Change(result, f"row {key}", "", "present")]


def _key_columns(old: Columns, new: Columns) -> list[str]:
    """Return the fewest leading text columns that identify the rows of both tables; empty if six columns do not."""
    keys: list[str] = []
    for name in itertools.islice((name for name, cells in new.items() if not all(map(_is_number, cells))), 6):
        keys.append(name)
        row_keys = [list(zip(*(table[key] for key in keys), strict=True)) for table in (old, new)]
        if all(len(set(table_keys)) == len(table_keys) for table_keys in row_keys):
            return keys
    return []


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell)) and "_" not in cell
    except ValueError:
        return False


def _rows_by_name(table: Columns, keys: list[str]) -> dict[str, int]:
    """Return row indices by row name: the values of the key columns or, without key columns, the row number."""
    if not keys:
        return {str(i + 1): i for i in range(len(next(iter(table.values()))))}
    return {", ".join(values): i for i, values in enumerate(zip(*(table[name] for name in keys), strict=True))}
