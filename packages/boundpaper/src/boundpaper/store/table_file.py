"""Read a table from its CSV file, or from Parquet for a large measurement, as numbered rows of text.

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

    Raises DataError when the file's ending does not match its content, or a cell's quotation mark is not closed;
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
    """Yield the header and then every row of a table as sequences of cells; a blank line gives an empty sequence."""
    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import unpack_table

        yield from unpack_table(path)[0]
    else:
        yield from csv.reader(_text_stream(path))


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every row of a table as its number, which starts at 2 below the header, and its cells by column."""
    yield from enumerate(csv.DictReader(_text_stream(path)), start=2)


def rows_with(
    path: Path, fits: Callable[[str], bool], fits_number: Callable[[Any], Any]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows, numbered as by `rows`, that have a cell whose text satisfies `fits`.

    `fits` is called once for each distinct text. If the file stores numbers, `fits_number` tests an array of numbers.
    """
    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import rows_that_fit

        yield from rows_that_fit(path, fits, fits_number)
        return
    header, *body = list(records(path)) or [[]]
    matching_texts = {text for text in set(chain.from_iterable(body)) if fits(text)}
    for number, record in enumerate(filter(None, body), start=2) if matching_texts else ():
        if not matching_texts.isdisjoint(record):
            yield number, dict.fromkeys(header, "") | dict(zip(header, record, strict=False))


def numbers_in(path: Path, number_of: Callable[[str], float]) -> npt.NDArray[np.float64]:
    """Return the distinct finite numbers in a table, sorted; `number_of` parses a cell, and returns NaN for words."""
    import numpy as np

    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import numbers_in as numbers_in_parquet

        arrays = list(numbers_in_parquet(path, number_of))
    else:
        arrays = [np.array(list(map(number_of, set(chain.from_iterable(records(path))))), float)]
    numbers: npt.NDArray[np.float64] = np.unique(np.concatenate([*arrays, np.empty(0)]))
    return numbers[np.isfinite(numbers)]


def _text_stream(path: Path) -> io.StringIO:
    return io.StringIO(table_text(path), newline="")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        sys.stdout.write(table_text(Path(file)))
