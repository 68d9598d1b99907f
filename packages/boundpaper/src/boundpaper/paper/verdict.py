"""Print verdicts in chapters: as words, or as a small mark that links a sentence to its ledger row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.paper.bound import Origin, Word, bound
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
}  # the mark of each verdict, defined in `templates/preamble.tex`
PROSE = frozenset({"statement", "reason"})  # ledger columns with text written by an author


class Latex(Word):
    """Text that is LaTeX, perhaps with the origins of its values; all other text is escaped when printed."""

    @classmethod
    def of(cls, text: str, origins: tuple[Origin, ...]) -> Latex:
        """Return a text as LaTeX with origins."""
        latex = cls(text)
        latex.origins = origins
        return latex


@dataclass(frozen=True)
class Claim:
    """A ledger row for use in a template.

    `shown` collects the claims whose verdict the chapter has printed so far.
    """

    name: str
    row: Mapping[str, Any]
    shown: set[str] = field(repr=False)

    @property
    def phrase(self) -> Latex:
        """Return the verdict as a verb phrase: "is not supported"."""
        self.shown.add(self.name)
        verdict = str(self.row["verdict"])
        if verdict not in PHRASES:
            raise SpecError(f"claim {self.name!r} has the unknown verdict {verdict!r}{or_known(verdict, PHRASES)}")
        return Latex.of(PHRASES[verdict], self.origins)

    @property
    def mark(self) -> Latex:
        """Return the verdict as a mark that links to its ledger row, in the paper or the supplement."""
        self.shown.add(self.name)
        verdict = str(self.row["verdict"])
        if verdict not in MARKS:
            raise SpecError(f"claim {self.name!r} has the unknown verdict {verdict!r}{or_known(verdict, MARKS)}")
        return Latex.of(rf"\verdictmark{{{self.name}}}{{{MARKS[verdict]}}}", self.origins)

    @property
    def words(self) -> Latex:
        """Return the verdict as words."""
        self.shown.add(self.name)
        from boundpaper.typeset.text import escape

        return Latex.of(escape(str(self.row["verdict"]), "latex"), self.origins)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Return the origin of the verdict: a cell of the ledger."""
        return (Origin("claims", "verdict", (("claim", self.name),)),)

    def __getattr__(self, column: str) -> Any:
        if column.startswith("__"):
            raise AttributeError(column)
        if column == "verdict":
            return self.words
        if column not in self.row:
            raise SpecError(f"a claim has no {column!r}{or_known(column, self.row)}")
        cell = self.row[column]
        if cell is None or cell != cell or str(cell) in ("", "<NA>"):
            raise SpecError(f"claim {self.name!r} has no {column}: it is empty in the ledger")
        if column in PROSE:
            from boundpaper.typeset.text import prose

            return Latex(prose(str(cell), "latex"))
        plain = cell.item() if hasattr(cell, "item") else cell
        return bound(plain, [Origin("claims", column, (("claim", self.name),))])
