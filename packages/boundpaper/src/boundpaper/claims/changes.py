"""Compare two versions of the ledger: list the verdicts that differ, and count the other cells that differ."""

import csv
import io

from boundpaper.store.canonical import agree
from boundpaper.typeset.plural import counted

Rows = dict[str, dict[str, str]]


def changes(old: str, new: str) -> list[str]:
    """Return lines on the differences between two ledgers: changed, lost and new verdicts, then other columns.

    `old` and `new` are two versions of `claims.csv`. The list is empty if both have the same rows, with numbers
    equal within the tolerance of results.
    """
    if old == new or agree(old.encode(), new.encode()):
        return []
    old_rows, new_rows = _rows_by_claim(old), _rows_by_claim(new)
    lines = [
        f"{claim}: {old_rows[claim]['verdict']} -> {row['verdict']}"
        for claim, row in new_rows.items()
        if claim in old_rows and old_rows[claim]["verdict"] != row["verdict"]
    ]
    lines += [f"{claim}: {row['verdict']} -> gone" for claim, row in old_rows.items() if claim not in new_rows]
    lines += [f"{claim}: new -> {row['verdict']}" for claim, row in new_rows.items() if claim not in old_rows]
    lines += _other_columns(old_rows, new_rows)
    return lines or ["the order of the rows differs"]


def _rows_by_claim(text: str) -> Rows:
    return {row["claim"]: row for row in csv.DictReader(io.StringIO(text))}


def _other_columns(old: Rows, new: Rows) -> list[str]:
    """Return a line for each column, except the verdict, whose cells differ in rows that both ledgers have."""
    changed_claims: dict[str, list[str]] = {}
    for claim, row in new.items():
        old_row = old.get(claim, row)
        for column in [name for name in row if name != "verdict"]:
            if column not in old_row:
                changed_claims.setdefault(f"{column} (a new column)", []).append(claim)
            elif old_row[column] != row[column] and not _nearly_equal(old_row[column], row[column]):
                changed_claims.setdefault(column, []).append(claim)
    old_columns, new_columns = ({name for row in rows.values() for name in row} for rows in (old, new))
    lines = [
        f"{column}: differs in {counted(len(claims), 'row')}, for example {claims[0]}"
        for column, claims in changed_claims.items()
    ]
    return lines + [f"{column}: no longer a column" for column in sorted(old_columns - new_columns)]


def _nearly_equal(a: str, b: str) -> bool:
    """Return whether two cells are numbers that are equal within the tolerance of results."""
    return bool(a and b) and '"' not in a + b and agree(f"x\n{a}\n".encode(), f"x\n{b}\n".encode())
