"""Handle repeats: a number that is printed again gets the verdict of the place where it first stands."""

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
    """A verdict on a number that was printed before, with the ledger rows that judge its first place.

    Attributes
    ----------
    repeats : str
        Names of the ledger rows that judge the number where it is first stated, put apart by blanks. The row's own
        verdict says whether it is copied faithfully; `inherited` adds what is judged of the number itself.
    """

    repeats: str = ""


def mark_repeat(verdict: Verdict, *origins: str) -> Verdict:
    """Mark `verdict` as a repeat of the ledger rows `origins`; return it unchanged if there are no origins."""
    if not origins:
        return verdict
    kept = {field.name: getattr(verdict, field.name) for field in fields(Verdict)}
    return Repeat(**kept, repeats=" ".join(origins))


def inherited(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return ledger rows in which each repeat that agrees has the verdict of its origin.

    A repeat that is no copy keeps its own verdict: it is a misprint. A repeat with several origins takes the worst of
    their verdicts, unless that is no better than its own. Rows have `claim`, `verdict` and `reason`; those with
    `repeats` name rows among them. They come back in their order, without `repeats`. Raises SpecError when a row
    repeats one that is not there, or rows repeat each other in a circle.
    """
    by_name = {str(row["claim"]): dict(row) for row in rows}
    done: dict[str, dict[str, Any]] = {}

    def settle(name: str, path: tuple[str, ...]) -> dict[str, Any]:
        if name in path:
            raise SpecError(f"claims repeat each other in a circle: {' -> '.join([*path, name])}")
        if name not in done:
            done[name] = _settled(by_name[name], [settle(each, (*path, name)) for each in _origins(name, by_name)])
        return done[name]

    return [settle(name, ()) for name in by_name]


def _origins(name: str, by_name: Mapping[str, Mapping[str, Any]]) -> list[str]:
    origins = str(by_name[name].get("repeats") or "").split()
    for origin in origins:
        if origin not in by_name:
            hint = suggest(origin, by_name)
            raise SpecError(f"{name} repeats {origin!r}, which is no row of the ledger; {hint}see `build.py claims`")
    return origins


def _settled(row: dict[str, Any], origins: list[dict[str, Any]]) -> dict[str, Any]:
    own = {name: value for name, value in row.items() if name != "repeats"}
    if not origins or own["verdict"] not in _FAITHFUL:
        return own
    worst = max(origins, key=lambda each: _WORSE.index(each["verdict"]))
    if _WORSE.index(worst["verdict"]) <= _WORSE.index(own["verdict"]):
        return own
    return {
        **own,
        **{name: worst[name] for name in _TAKEN if name in worst},
        "verdict": worst["verdict"],
        "reason": f"Repeats {worst['claim']}: {worst['verdict']}. {worst['reason']}",
    }
