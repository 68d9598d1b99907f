"""Read a table file, CSV or (for a large measurement) Parquet, as rows of text with row numbers.

`python -m boundpaper.store.table_file FILE` prints a table as text, for a readable `git diff` (`.gitattributes`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError
from boundpaper.store.paths import PARQUET
from boundpaper.store.text_file import text_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def table_text(path: Path) -> str:
    """Return a table as CSV text, whatever the format of its file.

    Raises DataError when the ending does not match the content, or a quoted cell does not end at its quotation mark;
    FileNotFoundError when there is no such file.
    """
    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import unpack_table

        return unpack_table(path)[1]
    text = text_of(path.parent, path.name)
    if '"' in text:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error as error:
            raise DataError(
                f"{path.name}:{reader.line_num}: a cell in quotation marks is not closed, or text follows it ({error});"
                " write a quotation mark inside a cell twice"
            ) from None
    return text


def table_hash(path: Path) -> str:
    """Return the hash of a table's CSV text, 32 hexadecimal digits, whatever the format of its file."""
    return hashlib.blake2b(table_text(path).encode(), digest_size=16).hexdigest()


def header_of(path: Path) -> list[str]:
    """Return the column names of a table; empty for an empty file."""
    return list(next(records(path), []))


def records(path: Path) -> Iterator[Sequence[str]]:
    """Yield every record of a table as a sequence of cells: the header first, and an empty one for a blank line."""
    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import unpack_table

        yield from unpack_table(path)[0]
    else:
        yield from csv.reader(_text_stream(path))


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number (the header is 1) and the cells by field of every row of a table."""
    yield from enumerate(csv.DictReader(_text_stream(path)), start=2)


def rows_with(
    path: Path, fits: Callable[[str], bool], fits_number: Callable[[Any], Any]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows, numbered as by `rows`, that have a cell whose text `fits`; fast if there are few.

    `fits` is called once per distinct text in the file; `fits_number` is the same test for an
    array of numbers, used if the file has numbers instead of text.
    """
    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import rows_that_fit

        yield from rows_that_fit(path, fits, fits_number)
        return
    header, *body = list(records(path)) or [[]]
    fitting = {text for text in set(chain.from_iterable(body)) if fits(text)}
    for number, record in enumerate(filter(None, body), start=2) if fitting else ():
        if not fitting.isdisjoint(record):
            yield number, dict.fromkeys(header, "") | dict(zip(header, record, strict=False))


def numbers_in(path: Path, number_of: Callable[[str], float]) -> npt.NDArray[np.float64]:
    """Return the distinct finite numbers in the cells of a table, sorted; `number_of` reads a text, NaN for none."""
    import numpy as np

    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import numbers_in as of_parquet

        parts = list(of_parquet(path, number_of))
    else:
        parts = [np.array(list(map(number_of, set(chain.from_iterable(records(path))))), float)]
    numbers: npt.NDArray[np.float64] = np.unique(np.concatenate([*parts, np.empty(0)]))
    return numbers[np.isfinite(numbers)]


def _text_stream(path: Path) -> io.StringIO:
    return io.StringIO(table_text(path), newline="")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        sys.stdout.write(table_text(Path(file)))
