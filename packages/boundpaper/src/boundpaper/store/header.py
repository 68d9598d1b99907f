"""Compare the first line of a table with the columns that its schema describes."""

from collections.abc import Sequence

from boundpaper.store.spelling import clean, spelled_out, spelling_fault
from boundpaper.suggestions import similar_names

SEPARATORS = {";": "';'", "\t": "a tab", "|": "'|'"}
LONGEST = 300  # most characters of a message


def mismatch(header: Sequence[str], described: Sequence[str]) -> tuple[str, str]:
    """Return the first wrong column of a header, and what is wrong; two empty texts if the header is correct."""
    if list(header) == list(described):
        return "", ""
    for separator, words in SEPARATORS.items():
        cells = [cell.strip(' "') for name in header for cell in name.split(separator)]
        is_separated = any(separator in name for name in header)
        if is_separated and not set(described).isdisjoint(cells) and set(described).isdisjoint(header):
            return "", f"the separator is {words}; save the table with commas between its cells (and points in numbers)"
    absent = [column for column in described if column not in header]
    extra = [column for column in header if column not in described]
    for column in extra:
        if clean(column) in absent and (reason := spelling_fault(column)):
            return clean(column), f"the column {spelled_out(column)} {reason}; write {spelled_out(clean(column))}"
    repeated = next((column for position, column in enumerate(header) if column in header[:position]), None)
    faults = [f"no column {', '.join(absent)}"] * bool(absent) + [f"unknown column {', '.join(extra)}"] * bool(extra)
    if len(absent) == 1 and len(extra) == 1 and similar_names(extra[0], absent):
        faults = [f"no column {absent[0]}; unknown column {extra[0]}, which may be the same"]
    if repeated is not None:
        faults.append(f"the column {repeated} appears twice")
    message = "; ".join(faults) or f"the columns are not in the order {', '.join(described)}"
    return (absent or extra or [""])[0], message if len(message) < LONGEST else f"{message[:LONGEST]}..."
