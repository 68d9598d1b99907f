"""Write verdicts as lines for a terminal: the whole ledger in short form, or one verdict in full."""

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
    """Return a verdict with colour codes, which `click.echo` removes if the output is no terminal."""
    import click

    return click.style(verdict, fg=_COLOURS.get(verdict))


def short_report(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return three lines per ledger row, and a last line with the count of each verdict."""
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
    return [*lines, ", ".join(f"{count} {in_colour(verdict)}" for verdict, count in counts.most_common())]


def full_text(row: Mapping[str, Any], place: Mapping[str, Any]) -> list[str]:
    """Return lines on one verdict: its statement, numbers and reason, and where it is stated, computed and printed.

    `row` is the row of the ledger, and `place` the row of `claim_places`.
    """
    stated_in = f"{row['source']}, {row['section']}"
    if place.get("line"):
        stated_in += f' (heading "{place["heading"]}", line {place["line"]}, statement {place["anchor"]})'
    numbers = {
        "reported": row["reported"],
        "recomputed": row["recomputed"],
        "n": row["n"],
        "interval": None if row["ci_low"] is None else f"{row['ci_low']:.6g} to {row['ci_high']:.6g}",
        "p": row["p_value"],
        "p adjusted": row["p_adjusted"],
    }
    numbers_line = ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in numbers.items()
        if value not in (None, "")
    )
    classes = ", ".join(str(row[name]) for name in ("severity", "kind", "failure") if row[name])
    return [
        f"{row['claim']}: {in_colour(row['verdict'])} ({classes})",
        f"    statement  {row['statement']}",
        f"    stated in  {stated_in}",
        *([f"    numbers    {numbers_line}"] if numbers_line else []),
        f"    reason     {row['reason']}",
        f"    function   {place['function']}",
        f"    reads      {place['inputs'] or 'nothing'}",
        f"    used by    {place['chapters'] or 'no chapter'}",
    ]
