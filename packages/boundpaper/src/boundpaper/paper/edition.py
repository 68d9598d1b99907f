"""Record the edition of a PDF: the commit of its artifacts, and the address of its site.

The file `out/edition.json` is an input of the thesis, so that a new commit or another site leads to a new PDF.
"""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.store.files import write
from boundpaper.typeset.addresses import fault_of_address

FILE = "out/edition.json"
ARTIFACTS = tuple(f"artifacts/{name}" for name in ("sources", "measurements", "results", "datapackage.yaml"))
_ADDRESS = re.compile(r"(?:https?://)?[\w.~/:@+-]+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True)
class Edition:
    """The edition of a PDF: the commit of its artifacts, and the address of its site.

    Attributes
    ----------
    commit : str
        The last commit that changed the artifacts; empty without git, and in a shallow clone.
    time : int
        Time of the commit in seconds since 1970; 0 without a commit.
    changed : bool
        Whether the artifacts differ from those of the commit.
    site : str
        Address of the site, or its folder relative to the PDF, without a final slash; empty for links inside the
        document.
    """

    commit: str = ""
    time: int = 0
    changed: bool = False
    site: str = ""

    @property
    def words(self) -> str:
        """Return the commit as text: `commit 1a2b3c4d5e6f of 2026-11-22, with changes`; empty without a commit."""
        if not self.commit:
            return ""
        day = datetime.fromtimestamp(self.time, UTC).date()
        return f"commit {self.commit[:12]} of {day}{', with changes' if self.changed else ''}"


def read(root: Path) -> Edition:
    """Return the last edition, or an empty edition if there is none or its file cannot be read."""
    try:
        record = json.loads((root / FILE).read_text(encoding="utf-8"))
        return Edition(**{name: type(value)(record[name]) for name, value in asdict(Edition()).items()})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Edition()


def store_edition(root: Path, edition: Edition) -> None:
    """Write an edition to `FILE`, which the thesis reads; leave the file unchanged if it already has this edition."""
    write(root / FILE, json.dumps(asdict(edition), indent=1).encode() + b"\n")


def ensure_edition(root: Path) -> None:
    """Write an empty edition if there is no file, since the graph of steps needs the file."""
    if not (root / FILE).is_file():
        store_edition(root, Edition())


def ask_commit(root: Path, site: str) -> Callable[[], Edition]:
    """Ask git in the background for the commit of the artifacts; return a function that waits for the edition."""
    commands = (
        ("log", "-1", "--format=%H %ct", "--", *ARTIFACTS),
        ("status", "--porcelain", "--untracked-files=normal", "--", *ARTIFACTS),
        ("rev-parse", "--is-shallow-repository", "--show-toplevel"),
    )
    try:
        processes = [
            subprocess.Popen(("git", *words), cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for words in commands
        ]
    except OSError:
        return lambda: Edition(site=site)

    def wait_for_commit() -> Edition:
        log, status, (is_shallow, *folders) = (process.communicate()[0].split("\n") for process in processes)
        commit, _, time = log[0].partition(" ")
        is_complete = is_shallow == "false" and Path(folders[0]).resolve() == root.resolve()
        if not is_complete or not _COMMIT.fullmatch(commit):
            return Edition(site=site)
        return Edition(commit, int(time), bool(status[0]), site)

    return cache(wait_for_commit)


def site_address(text: str) -> str:
    """Return the address of a site without a final slash.

    Raises SpecError when the address has characters that must be escaped.
    """
    if not _ADDRESS.fullmatch(text) or (":" in text and fault_of_address(text)):
        raise SpecError(f"{text!r} is not the address of a site; write it as https://example.org/thesis")
    return text.rstrip("/")
