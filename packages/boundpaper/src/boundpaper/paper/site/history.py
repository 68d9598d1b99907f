"""List the revisions of the project that changed each result, each with the change in words."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

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


class _Version(NamedTuple):
    """A change of a result in git; `old` and `new` are the hashes of the file before and after."""

    name: str
    commit: str
    date: str
    subject: str
    old: str
    new: str

    @property
    def key(self) -> str:
        return f"{self.name} {self.old} {self.new}"


def histories(root: Path) -> dict[str, tuple[Revision, ...]] | str:
    """Return the `MOST` newest revisions of every result, newest first, or a sentence that says why there are none.

    In a shallow clone, the oldest revisions are omitted, since they seem to add every file (see `shallow_note`). The
    change between two versions is cached in `out/state` by their hashes.
    """
    by_result: dict[str, list[_Version]] = {}
    try:
        edge_commits = _edge_commits(root)
        for version in _result_versions(root):
            if version.commit not in edge_commits:
                by_result.setdefault(version.name, []).append(version)
    except FileNotFoundError:
        return "git is not installed, so the history is left out"
    except subprocess.CalledProcessError:
        return "this folder is not a git checkout, so there is no history"
    shown = [version for versions in by_result.values() for version in versions[:MOST]]
    cached = _load_cache(root / CACHE)
    new = [version for version in shown if version.key not in cached]
    texts = _blob_texts(root, [blob for version in new for blob in (version.old, version.new)])
    changes = {version.key: cached.get(version.key, "") for version in shown}
    for version in new:
        changes[version.key] = _change_in_words(version.name, texts.get(version.old), texts.get(version.new))
    keep_value(root / CACHE, changes)
    return {name: _revisions(versions, changes) for name, versions in by_result.items()}


def _revisions(versions: Sequence[_Version], changes: Mapping[str, str]) -> tuple[Revision, ...]:
    revisions = [Revision(v.commit[:12], v.date, v.subject, changes[v.key]) for v in versions[:MOST]]
    return (*revisions[:-1], replace(revisions[-1], earlier=len(versions) - len(revisions)))


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


def _result_versions(root: Path) -> Iterator[_Version]:
    """Yield each change of a result, newest first."""
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
                name = path.removeprefix(f"{FOLDER}/").removesuffix(".csv")
                yield _Version(name, commit, date, subject, old, new)


def _blob_texts(root: Path, blobs: Sequence[str]) -> dict[str, str]:
    """Return the texts of git blobs by hash, without those that git does not have."""
    command, hashes = ["git", "cat-file", "--batch"], dict.fromkeys(blobs)
    listing = "".join(f"{blob}\n" for blob in hashes).encode()
    stream = io.BytesIO(subprocess.run(command, cwd=root, input=listing, capture_output=True, check=True).stdout)
    texts = {}
    for blob in hashes:
        head = stream.readline().split()  # hash, type and size; or the hash and "missing"
        if len(head) == 3:
            texts[blob] = stream.read(int(head[2]) + 1)[:-1].decode("utf-8", "replace")
    return texts


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
