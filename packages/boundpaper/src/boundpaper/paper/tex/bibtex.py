"""Find the bibliography style of a paper, and read the messages in BibTeX's report."""

import re
from pathlib import Path

from boundpaper.errors import LatexError
from boundpaper.paper import looks
from boundpaper.paper.bibliography import FILE

DEFAULT = "plainnat"
_STYLE = re.compile(r"(?m)^(?:(?!\\bibliographystyle)[^%\n])*+\\bibliographystyle\s*\{([^{}]*)\}")
# Warnings of the standard styles on a missing field, and of BibTeX on a paper without citations.
_IGNORED = re.compile(
    r"Warning--(?:empty |there's a (?:number|volume) but no |page numbers missing)|I found no \\citation commands"
)
_BANNER = re.compile(
    r"This is BibTeX|Capacity:|The (?:top-level auxiliary|style) file:|Database file|A level-\d auxiliary|"
    r"You've used|Reallocat|\(There (?:was|were)|\(Error may have been|while executing|\s|$"
)


def bibliography_style(root: Path) -> str:
    """Return the bibliography style that the template names, else the last that the preambles name, else `DEFAULT`."""
    for text in (looks.template(root)[1], looks.preamble(root)):
        if styles := _STYLE.findall(text):
            return str(styles[-1]).strip()
    return DEFAULT


def bibtex_complaints(report: Path) -> list[str]:
    """Return the errors and warnings of BibTeX's last run, each in one line; empty if there is no report."""
    if not report.is_file():
        return []
    lines = report.read_text(encoding="utf-8", errors="replace").splitlines()
    complaints: list[str] = []
    for line in lines:
        if line.startswith("You've used"):
            break
        if _BANNER.match(line) or _IGNORED.match(line):
            continue
        line = line.removeprefix("Warning--")
        if line.startswith(("--line", " : ")) and complaints:
            complaints[-1] += f" {line.strip(' :')}"
        else:
            complaints.append(line.strip())
    return list(dict.fromkeys(complaints))


def bibtex_failure(report: Path, output: str) -> LatexError:
    """Return the error for a failed run of BibTeX, with BibTeX's messages."""
    words = bibtex_complaints(report) or output.strip().splitlines()[-3:] or ["it ended without a message"]
    return LatexError("bibtex: " + "; ".join(words), FILE)
