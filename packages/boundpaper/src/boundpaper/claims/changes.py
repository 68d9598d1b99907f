"""Compare two versions of the ledger: list the verdicts that differ, and count other differing cells."""

import csv
import io

from boundpaper.store.canonical import agree

Rows = dict[str, dict[str, str]]


def changes(before: str, now: str) -> list[str]:
    """Return the differences between two ledgers, one per line: changed, lost and new verdicts, then other columns.

    `before` and `now` are two versions of `claims.csv`. The list is empty if both have the same rows, with numbers
    equal within the tolerance of results.
    """
    if before == now or agree(before.encode(), now.encode()):
        return []
    old, new = _rows_by_claim(before), _rows_by_claim(now)
    lines = [
        f"{claim}: {old[claim]['verdict']} -> {row['verdict']}"
        for claim, row in new.items()
        if claim in old and old[claim]["verdict"] != row["verdict"]
    ]
    lines += [f"{claim}: {row['verdict']} -> gone" for claim, row in old.items() if claim not in new]
    lines += [f"{claim}: new -> {row['verdict']}" for claim, row in new.items() if claim not in old]
    lines += _other_columns(old, new)
    return lines or ["the order of the rows differs"]


def _rows_by_claim(text: str) -> Rows:
    return {row["claim"]: row for row in csv.DictReader(io.StringIO(text))}


def _other_columns(old: Rows, new: Rows) -> list[str]:
    """Return one line per differing column, except the verdict, with an example row."""
    differing: dict[str, list[str]] = {}
    for claim, row in new.items():
        then = old.get(claim, row)
        for column in [name for name in row if name != "verdict"]:
            if column not in then:
                differing.setdefault(f"{column} (a new column)", []).append(claim)
            elif then[column] != row[column] and not _nearly_equal(then[column], row[column]):
                differing.setdefault(column, []).append(claim)
    gone = sorted({name for row in old.values() for name in row} - {name for row in new.values() for name in row})
    lines = [
        f"{column}: differs in {len(claims)} {'row' if len(claims) == 1 else 'rows'}, for example {claims[0]}"
        for column, claims in differing.items()
    ]
    lines += [f"{column}: no longer a column" for column in gone]
    return lines


def _nearly_equal(one: str, other: str) -> bool:
    return (
        agree(f"x\n{one}\n".encode(), f"x\n{other}\n".encode()) if one and other and '"' not in one + other else False
    )
