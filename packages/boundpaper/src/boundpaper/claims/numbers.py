"""List numbers that a document prints in several cells, to find a number printed for two quantities.

    python -m boundpaper.claims.numbers

The command writes `artifacts/sources/repeated_numbers.csv`. It has the cells of the tables in `artifacts/sources` whose
number the same document prints in another cell, if the number has `FEWEST_DIGITS` digits and is not a power of two. The
quantity of each cell is filled in by hand; the command keeps it, and leaves it empty for new cells. A number that
is printed for two or more quantities must be explained in `artifacts/sources/number_coincidences.csv`.
"""

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import itemgetter
from pathlib import Path

import pandas as pd

from boundpaper import places
from boundpaper.store.descriptor import resource
from boundpaper.store.documents import judged_sources
from boundpaper.store.files import write

FEWEST_DIGITS = 4
REPEATED_NUMBERS = "artifacts/sources/repeated_numbers.csv"
COLUMNS = ("document", "number", "table", "cell", "quantity", "reason", "source")
NOT_IN_KEYS = ("printed", "source", "reason", "as_number")  # columns that do not identify a cell
NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def distinctive_number(printed: str) -> str | None:
    """Return a cell's only number, or None if it has under `FEWEST_DIGITS` significant digits or is a power of two."""
    numbers = NUMBER.findall(printed)
    if len(numbers) != 1:
        return None
    number = numbers[0].replace(",", "").rstrip(".")
    digits = number.replace(".", "").lstrip("0")
    if "." not in number:
        digits = digits.rstrip("0")
        if int(number).bit_count() == 1:
            return None
    return number if len(digits) >= FEWEST_DIGITS else None


def repeated_numbers(root: Path) -> list[dict[str, str]]:
    """Return a row for each cell with a repeated number, without a quantity; its `cell` names the cell by its key."""
    cells_by_number: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for path in sorted((root / "artifacts/sources").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        if not rows or not {"printed", "source"} <= rows[0].keys():
            continue
        table = resource(root, path.stem)
        key = table["schema"].get("primaryKey", []) if table else []
        for row in rows:
            document, number = row["source"].partition(" ")[0], distinctive_number(row["printed"])
            if number is not None and document in judged_sources(root):
                cell = " / ".join(row[name] for name in key or row if name not in NOT_IN_KEYS and row[name])
                cells_by_number[document, number].append({"table": path.stem, "cell": cell, "source": row["source"]})
    return [
        {"document": document, "number": number, **cell}
        for (document, number), cells in sorted(cells_by_number.items())
        if len(cells) > 1
        for cell in cells
    ]


def keep_quantities(rows: Iterable[Mapping[str, str]], old_rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the rows with the quantities that the earlier list `old_rows` has for the same cells."""
    cell_of = itemgetter("document", "number", "table", "cell")
    quantity_by_cell = {cell_of(row): row["quantity"] for row in old_rows}
    filled_rows = [{**row, "quantity": quantity_by_cell.get(cell_of(row), "")} for row in rows]
    return [{**row, "reason": "" if row["quantity"] else "quantity not yet named"} for row in filled_rows]


def main() -> int:
    """Write the list, print how many cells have no quantity yet, and return the exit code."""
    root = places.project()
    old_rows: list[dict[str, str]] = []
    if (root / REPEATED_NUMBERS).exists():
        with (root / REPEATED_NUMBERS).open(encoding="utf-8", newline="") as stream:
            old_rows = list(csv.DictReader(stream))
    rows = keep_quantities(repeated_numbers(root), old_rows)
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    write(root / REPEATED_NUMBERS, table.to_csv(index=False, lineterminator="\n").encode())
    print(f"{REPEATED_NUMBERS}: {len(rows)} cells, {sum(not row['quantity'] for row in rows)} without a quantity")
    return 0


if __name__ == "__main__":
    sys.exit(main())
