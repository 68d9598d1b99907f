r"""Define values that record the cells they were read from, even after arithmetic, and link to these cells in print.

`n(...)` in a chapter returns such a value, printed as `\numberof{ARTIFACT}{...}`; a verdict is printed as
`\verdictof{CLAIM}{...}`. The preamble defines the targets of these links.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """The origin of a printed value.

    `artifact` is the table read, `claims` for verdicts; `where` has the cells that identify the row, by column.
    """

    artifact: str
    column: str
    where: tuple[tuple[str, str], ...] = ()

    @property
    def claim(self) -> str:
        """Return the name of the ledger row, if the origin is the ledger; else an empty text."""
        return dict(self.where).get("claim", "") if self.artifact == "claims" else ""

    def record(self) -> dict[str, Any]:
        """Return the origin in a form for JSON."""
        return {**asdict(self), "where": dict(self.where)}


class Whole(int):
    """An integer from an artifact, with its origins."""

    origins: tuple[Origin, ...] = ()


class Fraction(float):
    """A float from an artifact, with its origins."""

    origins: tuple[Origin, ...] = ()


class Word(str):
    """A text from an artifact, or the printed form of any bound value."""

    origins: tuple[Origin, ...] = ()


def bound(value: Any, origins: Iterable[Origin]) -> Any:
    """Return a number or text with origins attached, or any other value unchanged."""
    kinds: tuple[tuple[type, type], ...] = ((int, Whole), (float, Fraction), (str, Word))
    distinct = tuple(dict.fromkeys(origins))
    if isinstance(value, bool) or not distinct:
        return value
    for plain, kind in kinds:
        if isinstance(value, plain):
            copy = kind(value)
            copy.origins = distinct
            return copy
    return value


def origin(artifact: str, column: str, where: Mapping[str, object]) -> Origin:
    """Return the origin of a cell."""
    return Origin(artifact, column, tuple((name, str(value)) for name, value in where.items()))


def origins_of(value: object) -> tuple[Origin, ...]:
    """Return the origins of a value, or of all values of a pair such as an interval; empty if unknown."""
    if isinstance(value, (tuple, list)):
        return tuple(dict.fromkeys(each for part in value for each in origins_of(part)))
    return tuple(getattr(value, "origins", ()))


def link_to_origin(text: str, origins: tuple[Origin, ...]) -> str:
    r"""Return the LaTeX of a printed value, linked to its first origin."""
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
