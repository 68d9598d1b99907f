"""Check coverage: a table must have certain rows for each row of another table, so that studies find all they need."""

from pathlib import Path
from typing import Any

from boundpaper.store.documents import document_scope
from boundpaper.store.table_file import rows


def missing_rows(root: Path, resource: dict[str, Any], path: str) -> list[str]:
    """Return messages on missing rows that `covers` requires, one line per row of the other table.

    Rows of documents that the thesis does not examine require nothing, since no study reads them. In the table's
    resource, `covers` has `resource`, the other table (or this table, if each key needs all values); `when`, cells that
    select rows of the other table; `key`, the common column; `field`, a column of this table, and `values`, its
    required values for each key. `path` is the table's file below `root`.
    """
    covers = resource.get("covers")
    if not covers:
        return []
    other_path = f"artifacts/sources/{covers['resource']}.csv"
    values_by_key: dict[str, set[str]] = {}
    for _, row in rows(root / path):
        values_by_key.setdefault(row[covers["key"]], set()).add(row[covers["field"]])
    scope = document_scope(root)
    lacks: dict[str, str] = {}
    for number, row in rows(root / other_path):
        is_required = all(row[name] == word for name, word in covers["when"].items())
        name = row[covers["key"]]
        if not is_required or name in lacks or scope.foreign(row.get("source", "")):
            continue
        missing = [value for value in covers["values"] if value not in values_by_key.get(name, set())]
        if missing:
            kind = " and ".join(covers["when"].values())
            lacks[name] = (
                f"no {covers['field']} {', '.join(missing)} of {name!r}, which {other_path}, row {number}, "
                f"{f'says is {kind}' if kind else 'has'}; add the rows, with a reason for unknown values"
            )
    return list(lacks.values())
