"""Find rows that a table lacks although its description requires them (`covers`)."""

from pathlib import Path
from typing import Any

from boundpaper.store.documents import document_scope
from boundpaper.store.table_file import rows


def missing_rows(root: Path, resource: dict[str, Any], path: str) -> list[str]:
    """Return messages on the required rows that the table at `path` lacks, one for each key.

    `covers` in the description `resource` states which rows are required. Its `resource` names another table (or this
    table), its `when` selects rows of that table by their cells, and its `key` is a column of both tables. For each key
    in the selected rows, this table must have a row with each of `values` in its column `field`. Rows of documents that
    the thesis does not examine require nothing, since no study reads them.
    """
    covers = resource.get("covers")
    if not covers:
        return []
    other_path = f"artifacts/sources/{covers['resource']}.csv"
    values_by_key: dict[str, set[str]] = {}
    for _, row in rows(root / path):
        values_by_key.setdefault(row[covers["key"]], set()).add(row[covers["field"]])
    scope = document_scope(root)
    messages: dict[str, str] = {}
    for number, row in rows(root / other_path):
        is_selected = all(row[column] == cell for column, cell in covers["when"].items())
        key = row[covers["key"]]
        if not is_selected or key in messages or scope.is_foreign(row.get("source", "")):
            continue
        missing_values = [value for value in covers["values"] if value not in values_by_key.get(key, set())]
        if missing_values:
            condition = " and ".join(covers["when"].values())
            messages[key] = (
                f"no {covers['field']} {', '.join(missing_values)} of {key!r}, required by {other_path}, row {number}"
                f"{f' ({condition})' if condition else ''}; add the rows, with a reason for unknown values"
            )
    return list(messages.values())
