"""How a paper looks: the preamble and the frame of its document, which a paper may replace by files of its own."""

from __future__ import annotations

from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.store.text_file import text_of

PREAMBLE = "preamble.tex"
TEMPLATE = "thesis.tex.j2"
FOLDER = Path(__file__).parent / "templates"


def place(root: Path, name: str) -> str:
    """Where `PREAMBLE` or `TEMPLATE` of a paper lies, as messages name it: `paper/NAME` if it is there, else here."""
    return f"paper/{name}" if (root / "paper" / name).is_file() else f"boundpaper/paper/templates/{name}"


def text(root: Path, name: str) -> str:
    """The text of `PREAMBLE` or `TEMPLATE` of a paper.

    Raises
    ------
    SpecError
        When a file of the paper's own cannot be read as text.
    """
    if (root / "paper" / name).is_file():
        return text_of(root, f"paper/{name}", SpecError)
    return (FOLDER / name).read_text(encoding="utf-8")
