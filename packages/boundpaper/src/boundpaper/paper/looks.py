"""Choose the look of a paper: the preamble and template of its document, with what the paper adds or replaces."""

from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.store.text_file import text_of

PREAMBLE = "boundpaper/paper/templates/preamble.tex"
OWN_PREAMBLE = "paper/preamble.tex"
"""The paper's packages and commands, read after those of `PREAMBLE`; need not be there."""
TEMPLATE = "boundpaper/paper/templates/thesis.tex.j2"
OWN_TEMPLATE = "paper/thesis.tex.j2"
"""The paper's template in place of `TEMPLATE`; need not be there."""
_FOLDER = Path(__file__).parent / "templates"


def template(root: Path) -> tuple[str, str]:
    """Return the template of the document: its file, as messages name it, and its text.

    Raises SpecError when the paper's own cannot be read as text.
    """
    if (root / OWN_TEMPLATE).is_file():
        return OWN_TEMPLATE, text_of(root, OWN_TEMPLATE, SpecError)
    return TEMPLATE, (_FOLDER / "thesis.tex.j2").read_text(encoding="utf-8")


def preamble(root: Path) -> str:
    """Return both preambles, each after a comment that names its file.

    Raises SpecError when the paper's own cannot be read as text.
    """
    parts = {PREAMBLE: (_FOLDER / "preamble.tex").read_text(encoding="utf-8")}
    if own := own_preamble(root):
        parts[OWN_PREAMBLE] = own
    return "\n".join(f"% source: {file}\n{text.rstrip()}" for file, text in parts.items())


def own_preamble(root: Path) -> str:
    """Return the paper's own preamble; empty if it has none."""
    return text_of(root, OWN_PREAMBLE, SpecError) if (root / OWN_PREAMBLE).is_file() else ""
