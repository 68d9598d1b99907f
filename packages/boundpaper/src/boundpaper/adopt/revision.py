"""Read the files and the data of a paper at a git revision."""

import io
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path

from boundpaper.adopt import cells
from boundpaper.adopt.cells import DataCell
from boundpaper.adopt.folder import Folder
from boundpaper.errors import DataError, SpecError


def git_output(root: Path, *arguments: str) -> bytes | None:
    """Return the output of a git command; None if the command fails or git is not installed."""
    try:
        result = subprocess.run(("git", *arguments), cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return result.stdout if result.returncode == 0 else None


def is_known(root: Path, revision: str) -> bool:
    """Return whether the folder's git repository has this revision."""
    return git_output(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") is not None


def require_revision(root: Path, revision: str) -> None:
    """Raise SpecError unless the folder's git repository has the revision."""
    if not is_known(root, revision):
        raise SpecError(f"{revision!r} is not a git revision here; `git log --oneline` lists some")


def unpack_files(root: Path, revision: str, folder: Path) -> Path:
    """Write the files of `root` at a git revision into the new folder `folder`, and return that folder."""
    require_revision(root, revision)
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(git_output(root, "archive", "--format=tar", revision) or b"")) as archive:
        archive.extractall(folder, filter="data")
    return folder


def cells_at(folder: Folder, revision: str) -> dict[str, DataCell]:
    """Return the old cells of the data files that have changed since a revision, by address."""
    file_by_table = cells.data_files(folder)
    diff = git_output(folder.root, "diff", "--name-only", "--relative", "-z", revision, "--", *file_by_table.values())
    changed_files = {name.decode() for name in (diff or b"").split(b"\0") if name}
    old_cells: dict[str, DataCell] = {}
    for name, file in file_by_table.items():
        raw = git_output(folder.root, "show", f"{revision}:./{file}") if file in changed_files else None
        if raw is not None:
            with suppress(DataError, UnicodeDecodeError):  # cells of an unreadable old file cannot be compared
                old_cells |= cells.cells_in_texts({name: (file, raw)}, folder.keys).cells
    return old_cells
