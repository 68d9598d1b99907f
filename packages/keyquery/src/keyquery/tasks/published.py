"""Read the rows of published data sets, from the Hub or a local copy; each row comes with its place, for messages."""

import codecs
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.json_lines import line_values
from boundpaper.store.json_text import parsed
from keyquery.models.libraries import need

SUFFIXES = (".jsonl", ".json", ".parquet")


def local_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a `.jsonl`, `.json` or `.parquet` file, or of all such files in a folder.

    Raises DataError if there is no such file, or a file is damaged.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; give a {', '.join(SUFFIXES)} file, or a folder of them")
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: no {', '.join(SUFFIXES)} file in this folder; give a folder with such files")
    for file in files:
        yield from _rows_of_file(file)


def _rows_of_file(path: Path) -> Iterator[tuple[str, Any]]:
    if path.suffix == ".parquet":
        try:
            rows = need("pyarrow.parquet", "to read parquet").ParquetFile(path).read(use_threads=False).to_pylist()
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: not valid Parquet ({str(error).splitlines()[0]}); get the file again") from error
        yield from ((f"{path}: row {number}", row) for number, row in enumerate(rows, 1))
        return
    with path.open("rb") as stream:
        is_list = path.suffix == ".json" and stream.read(64).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
    if is_list:
        try:
            rows = parsed(path.read_bytes().decode("utf-8-sig"))
        except json.JSONDecodeError as error:
            raise DataError(f"{path}:{error.lineno}: not JSON ({error.msg})") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: not valid JSON ({error})") from None
        yield from ((f"{path}: row {number}", row) for number, row in enumerate(rows, 1))
    else:
        yield from line_values(path)


def hub_rows(
    hub_id: str, split: str, option: str, *, configuration: str = "", columns: Sequence[str] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a data set on the Hub; `columns` selects columns, if it is not empty.

    `option` names the command's option for a local copy in the error. Raises DataError if the data cannot be read.
    """
    library = need("datasets", f"to read {hub_id} from the Hub")
    try:
        rows = library.load_dataset(hub_id, configuration or None, split=split)
        rows = rows.select_columns(list(columns)) if columns else rows
    except Exception as error:  # the library raises many kinds of errors; all mean that the data are not available
        cause = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{hub_id}: the Hub data set cannot be read ({cause}); check the id and the connection, or give a local "
            f"copy with {option}"
        ) from error
    yield from ((f"{hub_id}: row {number}", row) for number, row in enumerate(rows, 1))
