"""Give a repeated number of a document the verdict on its origin, which is the cell that prints the number first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from boundpaper.claims.verdict import GOOD, Verdict
from boundpaper.errors import SpecError
from boundpaper.suggestions import suggest

_WORST_LAST = ("holds", "holds after rounding", "not testable", "not significant", "not supported", "contradicted")
_INHERITED_COLUMNS = ("failure", "recomputed", "n", "ci_low", "ci_high", "p_value", "p_adjusted")


@dataclass(frozen=True, kw_only=True)
class Repeat(Verdict):
    """A verdict on whether a repeated number agrees with its origin; `with_origins` adds the verdict on the origin.

    Attributes
    ----------
    repeats : str
        Names, separated by blanks, of the ledger rows that judge the origin.
    """

    repeats: str = ""


def mark_repeat(verdict: Verdict, *origins: str) -> Verdict:
    """Return a verdict marked as a repeat of the ledger rows `origins`; without origins, return it unchanged."""
    if not origins:
        return verdict
    values = {field.name: getattr(verdict, field.name) for field in fields(Verdict)}
    return Repeat(**values, repeats=" ".join(origins))


def with_origins(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return ledger rows in which each repeat that agrees with its origins has the worst verdict of its origins.

    A repeat that differs from its origin is a misprint and keeps its verdict. Rows have `claim`, `verdict` and
    `reason`; a repeat also has `repeats`, the names of its origins' rows. The result has the rows in the same order,
    without `repeats`. Raises SpecError when a row repeats an absent row, or rows repeat each other in a circle.
    """
    row_by_name = {str(row["claim"]): dict(row) for row in rows}
    result: dict[str, dict[str, Any]] = {}

    def resolve(name: str, repeats: tuple[str, ...]) -> dict[str, Any]:
        if name in repeats:
            circle = " -> ".join([*repeats, name])
            raise SpecError(f"claims repeat each other in a circle: {circle}; remove one of these repeats")
        if name not in result:
            origins = [resolve(origin, (*repeats, name)) for origin in _origins(name, row_by_name)]
            result[name] = _with_worst(row_by_name[name], origins)
        return result[name]

    return [resolve(name, ()) for name in row_by_name]


def _origins(name: str, row_by_name: Mapping[str, Mapping[str, Any]]) -> list[str]:
    origins = str(row_by_name[name].get("repeats") or "").split()
    for origin in origins:
        if origin not in row_by_name:
            hint = suggest(origin, row_by_name)
            raise SpecError(f"{name} repeats {origin!r}, which is not a row of the ledger; {hint}see `build.py claims`")
    return origins


def _with_worst(row: dict[str, Any], origins: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a row without `repeats`; a row that agrees with its origins gets the worst verdict of its origins."""
    result = {name: value for name, value in row.items() if name != "repeats"}
    if not origins or result["verdict"] not in GOOD:
        return result
    worst_origin = max(origins, key=lambda origin: _WORST_LAST.index(origin["verdict"]))
    if _WORST_LAST.index(worst_origin["verdict"]) <= _WORST_LAST.index(result["verdict"]):
        return result
    return {
        **result,
        **{name: worst_origin[name] for name in _INHERITED_COLUMNS if name in worst_origin},
        "verdict": worst_origin["verdict"],
        "reason": f"Repeats {worst_origin['claim']}: {worst_origin['verdict']}. {worst_origin['reason']}",
    }
