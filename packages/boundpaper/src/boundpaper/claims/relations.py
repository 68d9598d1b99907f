"""Declare claims that printed cells follow from other cells.

    growth_cells = Cells(
        "The growth of a lamp follows from the two columns beside it.",
        "beans, Results",
        Relation(
            each={"lamp": LAMPS},
            cell=HEIGHTS(lamp="{lamp}", metric="growth"),
            follows=HEIGHTS(lamp="{lamp}", metric="after") - HEIGHTS(lamp="{lamp}", metric="before"),
            because="{0} minus {1}.",
            key="{lamp}",
            says="The growth under {lamp} is the height after minus the height before.",
        ),
    )

The build treats the variable as a claim of the same name, which reads the artifacts that `Artifact` names.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from boundpaper.claims.judge import compare
from boundpaper.claims.repeats import mark_repeat
from boundpaper.claims.statement import parse_place
from boundpaper.claims.terms import Artifact, ArtifactCell, Frames, Keys, Rows, Term, fill
from boundpaper.claims.verdict import Verdict
from boundpaper.errors import SpecError

Each = Mapping[str, Sequence[Any] | Rows] | Rows


class DeclarationPart:
    """A part of a declared claim, which reads artifacts and returns verdicts."""

    def reads(self) -> Iterator[Artifact]:
        """Yield the artifacts that the part reads, in the order of the declaration."""
        raise NotImplementedError

    def verdicts(self, frames: Frames) -> list[Verdict]:
        """Return one verdict per cell."""
        raise NotImplementedError


class Cells:
    """A declared claim, which is called with the frames of its artifacts and returns its verdicts.

    Parameters
    ----------
    statement, source : str
        The statement, and its document and section, as for the decorator `claim`.
    parts : DeclarationPart
        What the claim checks: `Relation`, or `Repeats` and `Copies` of `claims.copies`. Verdicts are in this order.

    Attributes
    ----------
    artifacts : tuple of str
        Names of the artifacts that the parts read, in the order of the parts.

    Examples
    --------
    >>> import pandas as pd
    >>> from boundpaper.claims import Artifact, Cells, Relation
    >>> from boundpaper.store.frames import parsed
    >>> heights = parsed(pd.DataFrame({"day": [7, 8], "printed": ["18.4", "18.4"]}))
    >>> H = Artifact("heights")
    >>> still = Cells("Nothing grows.", "beans, T1", Relation(cell=H(day=8), follows=H(day=7), because="It was {0}."))
    >>> [verdict.verdict for verdict in still(heights)]
    ['holds']
    """

    def __init__(self, statement: str, source: str, *parts: DeclarationPart) -> None:
        self.parts = parts
        self.artifacts = tuple(dict.fromkeys(artifact.name for part in parts for artifact in part.reads()))
        self.__doc__ = statement
        self.stated = parse_place(source)
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in self.artifacts]
        )

    def __call__(self, *frames: pd.DataFrame, **frames_by_name: pd.DataFrame) -> list[Verdict]:
        """Return the verdicts, given the frames of the artifacts in order or by name.

        Raises
        ------
        SpecError
            When a frame is missing, or no part reads a given frame.
        """
        try:
            arguments = self.__signature__.bind(*frames, **frames_by_name).arguments
        except TypeError as error:
            raise SpecError(
                f"a declared check reads {', '.join(self.artifacts)}: {error}; write each name out as Artifact('...') "
                "in the file of the check"
            ) from None
        return [verdict for part in self.parts for verdict in part.verdicts(arguments)]


@dataclass(frozen=True, kw_only=True)
class Relation(DeclarationPart):
    """A check that a printed cell equals a value computed from other cells, for each set of keys.

    Attributes
    ----------
    cell : ArtifactCell
        The cell that is judged.
    follows : Term
        The term whose rounded value the cell should print.
    each : mapping or Rows
        The sets of keys; in each set, keys replace names in braces. A mapping of names to values gives all
        combinations of values, in which the last name varies fastest; names in one text, separated by commas, vary
        together. `Rows` of an artifact give a set per row, named by the columns.
    because, says, key : str
        Reason, statement and key of the ledger row, with names in braces. In the reason, `{0}` and `{1}` are the cells
        of `follows`, `{value}` and `{within}` the computed number and its range, and `{cell}` the judged cell.
    places : int or None
        Decimals of the recomputed number; by default those of a copied cell, else one more than printed.
    n : str
        Number of units behind the number, with names in braces as in the reason.
    judged : mapping of str to str
        For a ledger key, the ledger rows (separated by blanks) that judge the number where it is first printed. A
        copied cell that names these rows with `by` needs no entry.

    Examples
    --------
    >>> import pandas as pd
    >>> from boundpaper.claims import Artifact, Relation
    >>> from boundpaper.store.frames import parsed
    >>> heights = parsed(pd.DataFrame({"lamp": ["sun", "shade", "both"], "printed": ["18.4", "3.1", "21.5"]}))
    >>> H = Artifact("heights")
    >>> both = H(lamp="sun") + H(lamp="shade")
    >>> summed = Relation(cell=H(lamp="both"), follows=both, because="{0} and {1} are {value:.1f}.")
    >>> [(verdict.verdict, verdict.reason) for verdict in summed.verdicts({"heights": heights})]
    [('holds', '18.4 and 3.1 are 21.5.')]
    """

    cell: ArtifactCell
    follows: Term
    each: Each = field(default_factory=dict)
    because: str
    says: str = ""
    key: str = ""
    places: int | None = None
    n: str = ""
    judged: Mapping[str, str] = field(default_factory=dict)

    def reads(self) -> Iterator[Artifact]:
        """Yield the artifacts of the cell, of the terms and of the keys."""
        yield self.cell.artifact
        yield from (cell.artifact for cell in self.follows.cells())
        key_values = [self.each] if isinstance(self.each, Rows) else self.each.values()
        yield from (values.artifact for values in key_values if isinstance(values, Rows))

    def verdicts(self, frames: Frames) -> list[Verdict]:
        """Return one verdict per set of keys.

        Parameters
        ----------
        frames : mapping of str to DataFrame
            Artifacts by name.
        """
        return [self._judge_cell(frames, keys) for keys in _key_sets(self.each, frames)]

    def _judge_cell(self, frames: Frames, keys: Keys) -> Verdict:
        computed, reported = self.follows.read(frames, keys), self.cell.read(frames, keys)
        inputs = list(self.follows.cells())
        cells = [cell.read(frames, keys) for cell in inputs]
        names = {**keys, "value": computed.number, "within": computed.interval, "cell": reported}
        key = str(fill(self.key, keys))
        verdict = compare(
            reported.quoted_cell,
            computed.number,
            computed.interval,
            reason=fill(self.because, names, *cells),
            places=computed.decimals if self.places is None else self.places,
            n=int(fill(self.n, names, *cells)) if self.n else None,
            key=key,
            statement=str(fill(self.says, names, *cells)),
            kind="cell check",
        )
        origins = [claim for cell in inputs for claim in cell.judged] + self.judged.get(key, "").split()
        return mark_repeat(verdict, *(str(fill(claim, keys)) for claim in origins))


def _key_sets(each: Each, frames: Frames) -> list[dict[str, Any]]:
    """Return the sets of keys of a relation, one per cell to check."""
    if isinstance(each, Rows):
        return each.keys(frames)
    factors = [
        values.keys(frames) if isinstance(values, Rows) else [_values_by_name(names, value) for value in values]
        for names, values in each.items()
    ]
    return [
        {name: value for keys in combination for name, value in keys.items()}
        for combination in itertools.product(*factors)
    ]


def _values_by_name(names: str, value: Any) -> dict[str, Any]:
    """Map a name to its value, or several names separated by commas to their values."""
    single_names = names.split(", ")
    return dict(zip(single_names, value, strict=True)) if len(single_names) > 1 else {names: value}
