r"""Define values that record the cells from which they were read or computed, and print them as links to these cells.

`n(...)` in a chapter returns such a value, which is printed as `\numberof{ARTIFACT}{...}`; a verdict is printed as
`\verdictof{CLAIM}{...}`. The preamble defines the targets of these links.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any


@dataclass(frozen=True)
class Origin:
    """The origin of a printed value.

    `artifact` is the table from which the value was read (`claims` for a verdict). `where` has the cells that identify
    its row, by column.
    """

    artifact: str
    column: str
    where: tuple[tuple[str, str], ...] = ()

    @property
    def claim(self) -> str:
        """Return the name of the claim if the origin is a row of the ledger, else an empty text."""
        return dict(self.where).get("claim", "") if self.artifact == "claims" else ""

    def record(self) -> dict[str, Any]:
        """Return the origin as values for JSON."""
        return {**asdict(self), "where": dict(self.where)}


class BoundInt(int):
    """An integer from an artifact, with its origins."""

    origins: tuple[Origin, ...] = ()


class BoundFloat(float):
    """A float from an artifact, with its origins."""

    origins: tuple[Origin, ...] = ()


class BoundText(str):
    """A text from an artifact, or any printed value, with its origins."""

    origins: tuple[Origin, ...] = ()


def bound(value: Any, origins: Iterable[Origin]) -> Any:
    """Return a number or a text with origins, or any other value unchanged."""
    types: tuple[tuple[type, type], ...] = ((int, BoundInt), (float, BoundFloat), (str, BoundText))
    distinct = tuple(dict.fromkeys(origins))
    if isinstance(value, bool) or not distinct:
        return value
    for plain_type, bound_type in types:
        if isinstance(value, plain_type):
            copy = bound_type(value)
            copy.origins = distinct
            return copy
    return value


def origin(artifact: str, column: str, where: Mapping[str, object]) -> Origin:
    """Return the origin of a cell."""
    return Origin(artifact, column, tuple((name, str(value)) for name, value in where.items()))


def origins_of(value: object) -> tuple[Origin, ...]:
    """Return the origins of a value, or of all values in a tuple such as an interval; empty if they are unknown."""
    if isinstance(value, (tuple, list)):
        return tuple(dict.fromkeys(chain.from_iterable(map(origins_of, value))))
    return tuple(getattr(value, "origins", ()))


def link_to_origin(text: str, origins: tuple[Origin, ...]) -> str:
    r"""Return the LaTeX of a printed value, linked to its first origin."""
    if not origins or not text:
        return text
    first = origins[0]
    return rf"\verdictof{{{first.claim}}}{{{text}}}" if first.claim else rf"\numberof{{{first.artifact}}}{{{text}}}"


def _operation_with_origins(plain_type: type, name: str) -> Callable[..., Any]:
    plain_operation = getattr(plain_type, name)

    def operation(self: Any, *operands: Any) -> Any:
        result = plain_operation(self, *operands)
        if result is NotImplemented and plain_type is int and isinstance(operands[0], float):
            result = getattr(float, name)(float(self), *operands)
        return result if result is NotImplemented else bound(result, (*self.origins, *origins_of(operands)))

    return operation


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _bound_type, _plain_type in ((BoundInt, int), (BoundFloat, float)):
    for _name in (*_BINARY, *(f"r{name}" for name in _BINARY), "neg", "pos", "abs", "round"):
        setattr(_bound_type, f"__{_name}__", _operation_with_origins(_plain_type, f"__{_name}__"))
