"""Handle repeats: a number that is printed again gets the verdict of the place that first prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from boundpaper.claims.verdict import Verdict
from boundpaper.errors import SpecError
from boundpaper.suggestions import suggest

_WORSE = ("holds", "holds after rounding", "not testable", "not significant", "not supported", "contradicted")
_FAITHFUL = ("holds", "holds after rounding")
_TAKEN = ("failure", "recomputed", "n", "ci_low", "ci_high", "p_value", "p_adjusted")


@dataclass(frozen=True, kw_only=True)
class Repeat(Verdict):
    """A verdict on a number that was printed before, with the ledger rows that judge its first occurrence.

    Attributes
    ----------
    repeats : str
        Names, separated by blanks, of the ledger rows that judge the number where it is first stated. This verdict says
        whether the copy agrees; `with_origins` combines it with the verdict on the number.
    """

    repeats: str = ""


def mark_repeat(verdict: Verdict, *origins: str) -> Verdict:
    """Return `verdict` marked as a repeat of the ledger rows `origins`, or unchanged if there are none."""
    if not origins:
        return verdict
    values = {field.name: getattr(verdict, field.name) for field in fields(Verdict)}
    return Repeat(**values, repeats=" ".join(origins))


def with_origins(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return ledger rows in which each repeat that agrees has the verdict of its origin.

    A repeat that differs from its origin is a misprint and keeps its verdict. Other repeats get the worst verdict of
    their origins. Rows have `claim`, `verdict` and `reason`, and repeats have `repeats`, the names of other rows. The
    order is kept, and `repeats` is removed. Raises SpecError when a row repeats an absent row, or rows repeat each
    other in a circle.
    """
    by_name = {str(row["claim"]): dict(row) for row in rows}
    final: dict[str, dict[str, Any]] = {}

    def settle(name: str, path: tuple[str, ...]) -> dict[str, Any]:
        if name in path:
            raise SpecError(f"claims repeat each other in a circle: {' -> '.join([*path, name])}")
        if name not in final:
            origins = [settle(origin, (*path, name)) for origin in _origins(name, by_name)]
            final[name] = _with_worst(by_name[name], origins)
        return final[name]

    return [settle(name, ()) for name in by_name]


def _origins(name: str, by_name: Mapping[str, Mapping[str, Any]]) -> list[str]:
    origins = str(by_name[name].get("repeats") or "").split()
    for origin in origins:
        if origin not in by_name:
            hint = suggest(origin, by_name)
            raise SpecError(f"{name} repeats {origin!r}, which is not a row of the ledger; {hint}see `build.py claims`")
    return origins


def _with_worst(row: dict[str, Any], origins: list[dict[str, Any]]) -> dict[str, Any]:
    without_repeats = {name: value for name, value in row.items() if name != "repeats"}
    if not origins or without_repeats["verdict"] not in _FAITHFUL:
        return without_repeats
    worst = max(origins, key=lambda origin: _WORSE.index(origin["verdict"]))
    if _WORSE.index(worst["verdict"]) <= _WORSE.index(without_repeats["verdict"]):
        return without_repeats
    return {
        **without_repeats,
        **{name: worst[name] for name in _TAKEN if name in worst},
        "verdict": worst["verdict"],
        "reason": f"Repeats {worst['claim']}: {worst['verdict']}. {worst['reason']}",
    }
