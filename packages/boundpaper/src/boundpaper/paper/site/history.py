"""List the revisions of the project that changed each result, each with the change in words."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from boundpaper.build.changes import Change, compare
from boundpaper.store.cached_files import keep_value, read_kept
from boundpaper.typeset.plural import counted

FOLDER = "artifacts/results"
CACHE = "out/state/history.json"
TOLERANCE = 1e-6
MOST = 6  # most revisions of a result that are compared and shown
_HEAD = re.compile(r"commit ([0-9a-f]{40}) (\d{4}-\d\d-\d\d) (.*)")


SHALLOW = (
    "this clone is shallow, so earlier revisions are unknown, and the changes of the oldest known revisions are "
    "omitted; run git fetch --unshallow to get all revisions"
)


@dataclass(frozen=True)
class Revision:
    """A revision of a result: commit, date, subject, the change in words, and the number of omitted older revisions."""

    commit: str
    date: str
    subject: str
    change: str
    earlier: int = 0


def histories(root: Path) -> dict[str, tuple[Revision, ...]] | str:
    """Return the `MOST` newest revisions of every result, newest first, or a sentence that says why there are none.

    In a shallow clone, the oldest revisions are omitted, since they seem to add every file (see `shallow_note`). The
    change between two versions is cached in `out/state` by their hashes.
    """
    try:
        versions = list(_result_versions(root))
    except FileNotFoundError:
        return "git is not installed, so the history is left out"
    except subprocess.CalledProcessError:
        return "this folder is not a git checkout, so there is no history"
    cached = _load_cache(root / CACHE)
    by_result: dict[str, list[Revision]] = {}
    changes: dict[str, str] = {}
    edge_commits = _edge_commits(root)
    with _BlobReader(root) as blobs:
        for name, commit, date, subject, old, new in sorted(versions, key=itemgetter(0)):  # one result after the other
            if commit in edge_commits:
                continue
            if len(revisions := by_result.setdefault(name, [])) == MOST:
                revisions[-1] = replace(revisions[-1], earlier=revisions[-1].earlier + 1)
                continue
            key = f"{name} {old} {new}"
            if key not in changes:
                change = cached[key] if key in cached else _change_in_words(name, blobs.text(old), blobs.text(new))
                changes[key] = change
            revisions.append(Revision(commit[:12], date, subject, changes[key]))
    keep_value(root / CACHE, changes)
    return {name: tuple(revisions) for name, revisions in by_result.items()}


def shallow_note(root: Path) -> str:
    """Return a sentence that says that the history is incomplete; empty if it is complete or absent."""
    try:
        return SHALLOW if _edge_commits(root) else ""
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""


def _edge_commits(root: Path) -> frozenset[str]:
    """Return the commits whose parents a shallow clone does not have."""
    command = ["git", "rev-parse", "--git-path", "shallow"]
    file = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode().rstrip("\n")
    path = root / file  # relative to root, or absolute
    return frozenset(path.read_text(encoding="ascii").split()) if path.is_file() else frozenset()


def _result_versions(root: Path) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield each change of a result, newest first, as (name, commit, date, subject, blob before, blob after)."""
    options = ("--format=commit %H %cs %s", "--raw", "--no-abbrev", "--no-renames", "--relative")
    command = ["git", "-c", "core.quotepath=off", "log", *options, "--", FOLDER]
    # --relative, so that paths start at the project, which may be a folder of a larger repository.
    listing = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    commit = date = subject = ""
    for line in listing.split("\n"):
        if head := _HEAD.match(line):
            commit, date, subject = head.groups()
        elif line.startswith(":"):
            facts, _, path = line.partition("\t")
            old, new = facts.split()[2:4]
            if path.startswith(f"{FOLDER}/") and path.endswith(".csv"):
                yield path.removeprefix(f"{FOLDER}/").removesuffix(".csv"), commit, date, subject, old, new


class _BlobReader:
    """A reader of git blobs by hash, which uses a single process of git."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __enter__(self) -> _BlobReader:
        command = ["git", "cat-file", "--batch"]
        self._process = subprocess.Popen(command, cwd=self._root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def text(self, blob: str) -> str | None:
        """Return the text of a blob; None for the null hash."""
        if not blob.strip("0"):
            return None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{blob}\n".encode())
        self._process.stdin.flush()
        head = self._process.stdout.readline().split()
        if len(head) != 3:
            return None
        content = self._process.stdout.read(int(head[2]) + 1)
        return content[:-1].decode("utf-8", "replace")


def _change_in_words(name: str, old: str | None, new: str | None) -> str:
    """Return a phrase on the change from one CSV text of a result to another; None stands for no file."""
    if old is None or new is None:
        return "began" if old is None else "removed"
    try:
        changes = compare(name, old, new, TOLERANCE)
    except ValueError:
        return "could not be read as a table"
    return _summary_of_changes(changes)


def _summary_of_changes(changes: Sequence[Change]) -> str:
    if not changes:
        return "no number by more than rounding"
    rows = [change for change in changes if change.location.startswith("row ")]
    columns = [change for change in changes if change.location.startswith("column ")]
    cells = [change for change in changes if not change.location.startswith(("row ", "column "))]
    phrases = []
    for noun, axis_changes in (("row", rows), ("column", columns)):
        if added := sum(not change.before for change in axis_changes):
            phrases.append(f"{counted(added, noun)} added")
        if removed := sum(not change.after for change in axis_changes):
            phrases.append(f"{counted(removed, noun)} removed")
    if cells:
        largest = max(cells, key=lambda change: change.weight)
        phrases.append((f"{len(cells)} cells, the largest change " if len(cells) > 1 else "") + largest.description)
    return "; ".join(phrases)


def _load_cache(path: Path) -> dict[str, str]:
    try:
        content = read_kept(path)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
