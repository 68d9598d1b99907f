r"""Define values that remember the cells they were read from, even after arithmetic, and link to them in print.

`n(...)` in a chapter returns such a value; it is printed as `\numberof{ARTIFACT}{...}`, a verdict as
`\verdictof{CLAIM}{...}`. The preamble says where these lead.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """Where a printed value comes from.

    `artifact` is the table that was read, `claims` for verdicts; `where` are the cells that name the row, by column.
    """

    artifact: str
    column: str
    where: tuple[tuple[str, str], ...] = ()

    @property
    def claim(self) -> str:
        """Return the ledger row of this origin; empty for other artifacts."""
        return dict(self.where).get("claim", "") if self.artifact == "claims" else ""

    def record(self) -> dict[str, Any]:
        """Return the origin in its JSON form."""
        return {**asdict(self), "where": dict(self.where)}


class Whole(int):
    """A whole number from an artifact."""

    origins: tuple[Origin, ...] = ()


class Fraction(float):
    """A number from an artifact."""

    origins: tuple[Origin, ...] = ()


class Word(str):
    """A text from an artifact, or the printed form of any bound value."""

    origins: tuple[Origin, ...] = ()


def bound(value: Any, origins: Iterable[Origin]) -> Any:
    """Attach origins to `value`; what is neither number nor text stays unchanged."""
    kinds: tuple[tuple[type, type], ...] = ((int, Whole), (float, Fraction), (str, Word))
    kept = tuple(dict.fromkeys(origins))
    if isinstance(value, bool) or not kept:
        return value
    for plain, kind in kinds:
        if isinstance(value, plain):
            copy = kind(value)
            copy.origins = kept
            return copy
    return value


def origin(artifact: str, column: str, where: Mapping[str, object]) -> Origin:
    """Return the origin of a cell."""
    return Origin(artifact, column, tuple((name, str(value)) for name, value in where.items()))


def origins_of(value: object) -> tuple[Origin, ...]:
    """Return the cells from which a value, or each value of a pair such as an interval, was read; empty if unknown."""
    if isinstance(value, (tuple, list)):
        return tuple(dict.fromkeys(each for part in value for each in origins_of(part)))
    return tuple(getattr(value, "origins", ()))


def link_to_origin(text: str, origins: tuple[Origin, ...]) -> str:
    r"""Return LaTeX for a printed value that links to the entry of its first origin."""
    if not origins or not text:
        return text
    first = origins[0]
    return rf"\verdictof{{{first.claim}}}{{{text}}}" if first.claim else rf"\numberof{{{first.artifact}}}{{{text}}}"


def _operation_with_origins(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def operate(self: Any, *others: Any) -> Any:
        result = plain(self, *others)
        if result is NotImplemented and kind is int and isinstance(others[0], float):
            result = getattr(float, name)(float(self), *others)
        return result if result is NotImplemented else bound(result, (*self.origins, *origins_of(others)))

    return operate


_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _kind, _base in ((Whole, int), (Fraction, float)):
    for _name in (*_TWO, *(f"r{each}" for each in _TWO), "neg", "pos", "abs", "round"):
        setattr(_kind, f"__{_name}__", _operation_with_origins(_base, f"__{_name}__"))
