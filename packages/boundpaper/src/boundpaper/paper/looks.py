"""Select the preamble and the document template: the engine's files, which a paper may extend or replace."""

from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.store.text_file import text_of

PREAMBLE = "boundpaper/paper/templates/preamble.tex"
OWN_PREAMBLE = "paper/preamble.tex"  # optional file with the paper's packages and commands, read after `PREAMBLE`
TEMPLATE = "boundpaper/paper/templates/thesis.tex.j2"
OWN_TEMPLATE = "paper/thesis.tex.j2"  # optional template of the paper, used instead of `TEMPLATE`
_FOLDER = Path(__file__).parent / "templates"


def template(root: Path) -> tuple[str, str]:
    """Return the document template: its file name for messages, and its text.

    Raises SpecError when the paper's file is not readable text.
    """
    if (root / OWN_TEMPLATE).is_file():
        return OWN_TEMPLATE, text_of(root, OWN_TEMPLATE, SpecError)
    return TEMPLATE, (_FOLDER / "thesis.tex.j2").read_text(encoding="utf-8")


def preamble(root: Path) -> str:
    """Return the engine's preamble and then the paper's, each after a comment with its file name.

    Raises SpecError when the paper's file is not readable text.
    """
    texts = {PREAMBLE: (_FOLDER / "preamble.tex").read_text(encoding="utf-8"), OWN_PREAMBLE: own_preamble(root)}
    return "\n".join(f"% source: {file}\n{text.rstrip()}" for file, text in texts.items() if text)


def own_preamble(root: Path) -> str:
    """Return the paper's preamble; empty if it has none."""
    return text_of(root, OWN_PREAMBLE, SpecError) if (root / OWN_PREAMBLE).is_file() else ""
