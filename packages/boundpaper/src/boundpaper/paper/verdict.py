"""Print verdicts in chapters: as words, or as a small mark that links a sentence to its ledger row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.paper.bound import BoundText, Origin, bound
from boundpaper.paper.lookup import is_empty
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    from collections.abc import Mapping

PHRASES = {
    "holds": "holds",
    "holds after rounding": "holds after rounding",
    "not significant": "is not significant",
    "not supported": "is not supported",
    "contradicted": "is contradicted",
    "not testable": "cannot be tested",
}
MARKS = {
    "holds": "holds",
    "holds after rounding": "rounded",
    "not significant": "insignificant",
    "not supported": "unsupported",
    "contradicted": "contradicted",
    "not testable": "untestable",
}  # the mark of each verdict, which `templates/preamble.tex` defines
PROSE = frozenset({"statement", "reason"})  # ledger columns that an author writes, with markup


class Latex(BoundText):
    """Text that is already LaTeX; all other text is escaped when it is printed."""

    @classmethod
    def of(cls, text: str, origins: tuple[Origin, ...]) -> Latex:
        """Return a text as LaTeX with origins."""
        latex = cls(text)
        latex.origins = origins
        return latex


@dataclass(frozen=True)
class Claim:
    """A row of the ledger, for use in a template.

    `shown` collects the names of the claims whose verdicts the chapter has printed so far.
    """

    name: str
    row: Mapping[str, Any]
    shown: set[str] = field(repr=False)

    @property
    def phrase(self) -> Latex:
        """Return the verdict as a verb phrase: "is not supported"."""
        self.shown.add(self.name)
        return Latex.of(self._verdict_in(PHRASES), self.origins)

    @property
    def mark(self) -> Latex:
        """Return the verdict as a mark that links to its row of the ledger."""
        self.shown.add(self.name)
        return Latex.of(rf"\verdictmark{{{self.name}}}{{{self._verdict_in(MARKS)}}}", self.origins)

    def _verdict_in(self, terms: Mapping[str, str]) -> str:
        verdict = str(self.row["verdict"])
        if verdict not in terms:
            raise SpecError(f"claim {self.name!r} has the unknown verdict {verdict!r}{or_known(verdict, terms)}")
        return terms[verdict]

    @property
    def words(self) -> Latex:
        """Return the verdict as words."""
        self.shown.add(self.name)
        from boundpaper.typeset.text import escape

        return Latex.of(escape(str(self.row["verdict"]), "latex"), self.origins)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Return the origin of the verdict, which is a cell of the ledger."""
        return (Origin("claims", "verdict", (("claim", self.name),)),)

    def __getattr__(self, column: str) -> Any:
        if column.startswith("__"):
            raise AttributeError(column)
        if column == "verdict":
            return self.words
        if column not in self.row:
            raise SpecError(f"a claim has no {column!r}{or_known(column, self.row)}")
        cell = self.row[column]
        if is_empty(cell):
            raise SpecError(f"claim {self.name!r} has no {column}: it is empty in the ledger")
        if column in PROSE:
            from boundpaper.typeset.text import prose

            return Latex(prose(str(cell), "latex"))
        value = cell.item() if hasattr(cell, "item") else cell
        return bound(value, [Origin("claims", column, (("claim", self.name),))])
