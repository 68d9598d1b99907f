"""Check copied values: values that a text repeats from a table, and cells that occur in two tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from boundpaper.claims.judge import QuotedCell, about, compare, judge, quote
from boundpaper.claims.relations import DeclarationPart
from boundpaper.claims.repeats import mark_repeat
from boundpaper.claims.terms import Artifact, ArtifactCell, Frames
from boundpaper.claims.verdict import Verdict
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.statistics.rounding import Interval
from boundpaper.store.frames import pick
from boundpaper.store.paper_vocabulary import vocabulary


@dataclass(frozen=True)
class Repeats(DeclarationPart):
    """Values in prose or captions that repeat cells.

    Attributes
    ----------
    of : Artifact
        Values with the columns `statement`, `quantity`, and one of the columns in the vocabulary's `stated_of`. A value
        whose `qualifier` is "about" is judged as an approximate number.
    origins : mapping of str to ArtifactCell
        By statement, the cell whose rounded value it repeats; if the artifact has no label, reasons name the cell's
        section.
    words : bool
        Whether the values are given in words (`zero`).

    Examples
    --------
    >>> import pandas as pd
    >>> from boundpaper.claims import Artifact, Repeats
    >>> from boundpaper.store.frames import parsed
    >>> stated = pd.DataFrame({"statement": ["tallest"], "quantity": ["height"], "section": ["2"], "printed": ["18"]})
    >>> heights = parsed(pd.DataFrame({"day": [7, 14], "printed": ["8.1", "18.4"]}))
    >>> repeats = Repeats(Artifact("stated"), {"tallest": Artifact("heights", "the table of heights")(day=14)})
    >>> [verdict.verdict for verdict in repeats.verdicts({"stated": parsed(stated), "heights": heights})]
    ['holds']
    """

    of: Artifact
    origins: Mapping[str, ArtifactCell]
    words: bool = False

    def reads(self) -> Iterator[Artifact]:
        """Yield the artifacts read: the stated values, and the tables that they repeat."""
        yield self.of
        yield from (cell.artifact for cell in self.origins.values())

    def verdicts(self, frames: Frames) -> list[Verdict]:
        """Return one verdict for each statement.

        Parameters
        ----------
        frames : mapping of str to DataFrame
            Artifacts by name.
        """
        return [self._verdict(frames, key, cell) for key, cell in self.origins.items()]

    def _verdict(self, frames: Frames, key: str, cell: ArtifactCell) -> Verdict:
        values, original = self.of.frame(frames), cell.read(frames, {})
        row = pick(values, statement=key)
        reported = _cell_in_words(row) if self.words else quote(values, statement=key)
        label = cell.artifact.label or _place_name(original.row)
        reason = f"{label[:1].upper()}{label[1:]} prints {original.printed}."
        statement = f"The {_place_in_words(row)} gives {_quantity_name(row)} as {row['printed']}."
        if original.value is None:
            is_same = reported.value is None and reported.interval == original.interval
            verdict = judge(
                is_same, reason, key=key, statement=statement, reported=reported.printed, recomputed=original.printed
            )
            verdict = replace(verdict, kind="cell check")
        elif row.get("qualifier") == "about" and reported.value is not None:
            verdict = about(reported, original.number, reason=reason, key=key, statement=statement, kind="cell check")
        else:
            verdict = compare(
                reported,
                original.number,
                original.interval,
                reason=reason,
                places=original.decimals,
                key=key,
                statement=statement,
                kind="cell check",
            )
        return mark_repeat(verdict, *cell.judged)


def _cell_in_words(row: pd.Series) -> QuotedCell:
    number = stated_number(row)
    return QuotedCell(str(row["printed"]), number, 0, Interval(number - 0.5, number + 0.5))


def _place_name(row: pd.Series) -> str:
    """Return the name of a place in the text: the row's section, or a part of the document."""
    section = str(row["source"]).partition(" ")[2]
    return f"section {section}" if section[0].isdigit() else f"the part {section}"


def _place_in_words(row: pd.Series) -> str:
    """Return words for where a repeated value is printed: a figure's caption, or a place in the text."""
    return f"caption of Figure {row['figure']}" if "figure" in row else "text"


def _quantity_name(row: pd.Series) -> str:
    """Name the quantity and its owner, from the first column of the vocabulary's `stated_of` that the row has.

    A quantity written with a capital gets a small first letter, except a symbol (`Q`).
    """
    quantity = str(row["quantity"])
    for column, style in vocabulary().stated_of.items():
        if column in row:
            word = quantity.split()[0]
            if style == "heading" and (len(word) == 1 or word[1:].islower()):
                quantity = quantity[0].lower() + quantity[1:]
            return f"{quantity} of {row[column]}" if row[column] else quantity
    return quantity


@dataclass(frozen=True)
class Copies(DeclarationPart):
    """A check that cells in two tables are equal; cells that are empty in either table are skipped.

    Attributes
    ----------
    of : Artifact
        The copy.
    original : Artifact or tuple of Artifact
        The copied artifact, with a label; several if the columns come from different tables.
    on : tuple of str
        Key columns of both tables.
    prefix : str
        Prefix of each key, for a claim that compares with several originals.
    judged : mapping of str to str
        By key, the ledger rows (separated by blanks) that judge the original's number.

    Examples
    --------
    >>> import pandas as pd
    >>> from boundpaper.claims import Artifact, Copies
    >>> from boundpaper.store.frames import parsed
    >>> printed = {"a": "8.1", "b": "8.10"}
    >>> frames = {name: parsed(pd.DataFrame({"day": [7], "printed": [text]})) for name, text in printed.items()}
    >>> copies = Copies(Artifact("a"), Artifact("b", "the table of heights"), ("day",))
    >>> [verdict.verdict for verdict in copies.verdicts(frames)]
    ['holds']
    """

    of: Artifact
    original: Artifact | tuple[Artifact, ...]
    on: tuple[str, ...]
    prefix: str = ""
    judged: Mapping[str, str] = field(default_factory=dict)

    @property
    def _original_tables(self) -> tuple[Artifact, ...]:
        return self.original if isinstance(self.original, tuple) else (self.original,)

    def reads(self) -> Iterator[Artifact]:
        """Yield all tables that are compared."""
        yield from (self.of, *self._original_tables)

    def verdicts(self, frames: Frames) -> list[Verdict]:
        """Return one verdict per common cell, in the copy's order.

        Parameters
        ----------
        frames : mapping of str to DataFrame
            Artifacts by name.
        """
        copy = self.of.frame(frames)
        original = pd.concat([table.frame(frames) for table in self._original_tables])
        pairs = copy[copy["low"].notna()].merge(original[original["low"].notna()], on=list(self.on))
        places = pairs[list(self.on)].to_dict("records")
        return [self._verdict(copy, original, {str(name): value for name, value in place.items()}) for place in places]

    def _verdict(self, copy: pd.DataFrame, original: pd.DataFrame, place: Mapping[str, object]) -> Verdict:
        cell, label = quote(original, **place), self._original_tables[0].label
        names = [str(value) for value in place.values()]
        key = self.prefix + "-".join(names)
        verdict = compare(
            quote(copy, **place),
            cell.number,
            cell.interval,
            reason=f"{label} prints {cell.printed}.",
            places=cell.decimals,
            key=key,
            statement=f"The cell {', '.join(names)} equals {label}.",
            kind="cell check",
        )
        return mark_repeat(verdict, *self.judged.get(key, "").split())
