"""Show claims on a terminal: the whole ledger in short form, or one claim with all its inputs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_COLOURS = {
    "holds": "green",
    "holds after rounding": "green",
    "not significant": "yellow",
    "not supported": "magenta",
    "contradicted": "red",
}


def in_colour(verdict: str) -> str:
    """Return a verdict with colour codes, which the printing function removes if there is no terminal."""
    import click

    return click.style(verdict, fg=_COLOURS.get(verdict))


def short_report(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return three lines per row, and a last line with the count of each verdict."""
    lines = []
    counts: Counter[str] = Counter()
    for row in rows:
        values = ", ".join(f"{key} {row[key]}" for key in ("reported", "recomputed") if row[key] and row["recomputed"])
        lines += [
            f"{row['claim']}: {in_colour(str(row['verdict']))}{values and f' ({values})'}",
            f"    {row['statement']}",
            f"    {row['reason']}",
        ]
        counts[str(row["verdict"])] += 1
    return [*lines, ", ".join(f"{count} {in_colour(word)}" for word, count in counts.most_common())]


def full_text(row: Mapping[str, Any], place: Mapping[str, Any]) -> list[str]:
    """Return lines on one verdict: statement, place, numbers, test, reason, and where it is computed and used."""
    stated_place = f"{row['source']}, {row['section']}"
    if place.get("line"):
        stated_place += f' (heading "{place["heading"]}", line {place["line"]}, statement {place["anchor"]})'
    numbers = {
        "reported": row["reported"],
        "recomputed": row["recomputed"],
        "n": row["n"],
        "interval": None if row["ci_low"] is None else f"{row['ci_low']:.6g} to {row['ci_high']:.6g}",
        "p": row["p_value"],
        "p adjusted": row["p_adjusted"],
    }
    listing = ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in numbers.items()
        if value not in (None, "")
    )
    weight = ", ".join(str(word) for word in (row["severity"], row["kind"], row["failure"]) if word)
    return [
        f"{row['claim']}: {in_colour(row['verdict'])} ({weight})",
        f"    statement  {row['statement']}",
        f"    stated in  {stated_place}",
        *([f"    numbers    {listing}"] if listing else []),
        f"    reason     {row['reason']}",
        f"    function   {place['function']}",
        f"    reads      {place['inputs'] or 'nothing'}",
        f"    used by    {place['chapters'] or 'no chapter'}",
    ]
