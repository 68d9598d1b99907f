"""Check values that a text repeats from a table, and cells that two tables have in common."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import pandas as pd

from boundpaper.claims.judge import about, compare, judge, quote, quote_row
from boundpaper.claims.relations import DeclarationPart
from boundpaper.claims.repeats import mark_repeat
from boundpaper.claims.terms import Artifact, ArtifactCell, Frames, cell_in_words
from boundpaper.claims.verdict import Verdict
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.store.frames import pick
from boundpaper.store.paper_vocabulary import vocabulary


@dataclass(frozen=True)
class Repeats(DeclarationPart):
    """A check that values in prose or captions repeat cells of tables.

    Attributes
    ----------
    of : Artifact
        The values, with the columns `statement` and `quantity`, and a column in the vocabulary's `stated_of`. A value
        whose `qualifier` is "about" is judged as an approximate number.
    origins : mapping of str to ArtifactCell
        The cell that each statement repeats, perhaps rounded. Reasons name the label of the cell's artifact; without a
        label, they name the cell's section.
    words : bool
        Whether the values are printed as words (`zero`).

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
        """Yield the artifact with the values, then the artifacts with the cells that these values repeat."""
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
        reported = (
            cell_in_words(str(row["printed"]), stated_number(row)) if self.words else quote_row(row, {"statement": key})
        )
        label = cell.artifact.label or _section_name(original.row)
        reason = f"{label[:1].upper()}{label[1:]} prints {original.printed}."
        source = f"caption of Figure {row['figure']}" if "figure" in row else "text"
        statement = f"The {source} gives {_quantity_name(row)} as {row['printed']}."
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


def _section_name(row: pd.Series) -> str:
    """Return the name of the section that prints a cell, `section 2.1` or `the part Summary`."""
    section = str(row["source"]).partition(" ")[2]
    return f"section {section}" if section[0].isdigit() else f"the part {section}"


def _quantity_name(row: pd.Series) -> str:
    """Return a value's quantity and the thing that has it (`height of beans`), which a column of `stated_of` names.

    If `stated_of` calls the column a heading, the quantity begins with a small letter, unless it is a symbol (`QK`).
    """
    quantity = str(row["quantity"])
    for column, style in vocabulary().stated_of.items():
        if column in row:
            first_word = quantity.split()[0]
            if style == "heading" and (len(first_word) == 1 or first_word[1:].islower()):
                quantity = quantity[0].lower() + quantity[1:]
            return f"{quantity} of {row[column]}" if row[column] else quantity
    return quantity


@dataclass(frozen=True)
class Copies(DeclarationPart):
    """A check that cells of two tables with the same keys are equal, unless one of them is empty.

    Attributes
    ----------
    of : Artifact
        The copy.
    original : Artifact or tuple of Artifact
        The copied table, with a label; a tuple if the cells come from several tables.
    on : tuple of str
        Key columns of both tables.
    prefix : str
        Prefix of each ledger key, for a claim that compares with several originals.
    judged : mapping of str to str
        For a ledger key, the ledger rows (separated by blanks) that judge the original's number.

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
        selections = pairs[list(self.on)].to_dict("records")
        return [self._verdict(copy, original, cast("dict[str, object]", selection)) for selection in selections]

    def _verdict(self, copy: pd.DataFrame, original: pd.DataFrame, selection: Mapping[str, object]) -> Verdict:
        cell, label = quote(original, **selection), self._original_tables[0].label
        names = list(map(str, selection.values()))
        key = self.prefix + "-".join(names)
        verdict = compare(
            quote(copy, **selection),
            cell.number,
            cell.interval,
            reason=f"{label} prints {cell.printed}.",
            places=cell.decimals,
            key=key,
            statement=f"The cell {', '.join(names)} equals {label}.",
            kind="cell check",
        )
        return mark_repeat(verdict, *self.judged.get(key, "").split())
