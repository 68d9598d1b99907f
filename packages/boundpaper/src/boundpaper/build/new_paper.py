"""Create a folder with the files of an empty paper that depends on this version of the engine."""

import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import boundpaper
from boundpaper.errors import SpecError
from boundpaper.places import project_above
from boundpaper.store.files import new_folder, write

FRAME = Path(boundpaper.__file__).parent / "frame"
REAL_NAMES = {"gitignore": ".gitignore", "pyproject.in": "pyproject.toml"}
"""Names in a paper of files that have another name in the frame, where the real name would have an effect."""


def new_paper(folder: Path, title: str, date: str) -> list[str]:
    """Write the files of an empty paper into `folder`, all or none; return their paths relative to `folder`.

    `title` and `date` go on the title page. Raises SpecError when the folder exists and is not empty, or is inside
    another paper.
    """
    if paper := project_above(folder.resolve().parent):
        raise SpecError(f"{folder}: is inside the paper {paper}; name a folder outside it")
    files = {REAL_NAMES.get(name, name): text for name, text in _frame_files(title, date).items()}
    with new_folder(folder) as frame:
        for name, text in sorted(files.items()):
            write(frame / name, text.encode())
    return sorted(files)


def _frame_files(title: str, date: str) -> dict[str, str]:
    """Return the files of an empty paper by path, with title, date and other values filled in."""
    csv_cell = io.StringIO()
    csv.writer(csv_cell, lineterminator="").writerow([title])
    replacements = {
        "@title@": json.dumps(title, ensure_ascii=False),  # quoted as one line of YAML or TOML
        "@plain@": title,
        "@cell@": csv_cell.getvalue(),
        "@name@": _package_name(title),
        "@date@": date,
        "@version@": boundpaper.__version__,
    }
    texts = {}
    for path in sorted(path for path in FRAME.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        pattern = "|".join(replacements)
        text = re.sub(pattern, lambda match: replacements[match[0]], path.read_text(encoding="utf-8"))
        texts[path.relative_to(FRAME).as_posix()] = text
    return texts


def _package_name(title: str) -> str:
    """Turn a title into a package name: lower-case letters, digits and hyphens."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_title)[:60].strip("-") or "paper"
