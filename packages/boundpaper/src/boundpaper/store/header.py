"""Compare the first line of a table with the columns that its schema describes."""

from collections.abc import Sequence

from boundpaper.store.spelling import clean, difference, spelled_out
from boundpaper.suggestions import similar_names

SEPARATORS = {";": "';'", "\t": "a tab", "|": "'|'"}
LONGEST = 300  # characters of a message


def mismatch(header: Sequence[str], described: Sequence[str]) -> tuple[str, str]:
    """Return the first wrong column of a header, and what is wrong; two empty texts if the header is correct."""
    if list(header) == list(described):
        return "", ""
    for mark, name in SEPARATORS.items():
        cells = [cell.strip(' "') for line in header for cell in line.split(mark)]
        if any(mark in cell for cell in header) and set(cells) & set(described) and not set(header) & set(described):
            return "", f"the separator is {name}; save the table with commas between its cells (and points in numbers)"
    absent = [column for column in described if column not in header]
    extra = [column for column in header if column not in described]
    for column in extra:
        if clean(column) in absent and (reason := difference(column)):
            return clean(column), f"the column {spelled_out(column)} {reason}; write {spelled_out(clean(column))}"
    twice = next((column for place, column in enumerate(header) if column in header[:place]), None)
    parts = [f"no column {', '.join(absent)}"] * bool(absent) + [f"unknown column {', '.join(extra)}"] * bool(extra)
    if len(absent) == 1 and len(extra) == 1 and similar_names(extra[0], absent):
        parts = [f"no column {absent[0]}; unknown column {extra[0]}, which may be the same"]
    if twice is not None:
        parts.append(f"the column {twice} appears twice")
    message = "; ".join(parts) or f"the columns are not in the order {', '.join(described)}"
    return (absent or extra or [""])[0], message if len(message) < LONGEST else f"{message[:LONGEST]}..."
