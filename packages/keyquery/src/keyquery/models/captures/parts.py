"""During a capture, store the vectors of each document in a part: a zip file of arrays that is complete or absent."""

from __future__ import annotations

import errno
import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError, ThesisError
from boundpaper.store.files import FULL, unwritable_message

FOLDER = "parts"


def path(root: Path, number: int) -> Path:
    """Return the path of the part of document `number`."""
    return root / FOLDER / f"{number:06d}.npz"


def complete_parts(root: Path) -> dict[int, Path]:
    """Return the paths of complete parts by their documents' numbers, in order."""
    return {int(file.stem): file for file in sorted((root / FOLDER).glob("[0-9]*.npz"))}


@contextmanager
def plain_disk_errors(folder: Path) -> Iterator[None]:
    """In this block, turn errors from a full disk or a protected folder into a ThesisError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (*FULL, errno.EACCES, errno.EPERM, errno.EROFS):
            raise ThesisError(unwritable_message(folder, error, "rerun the command to resume")) from error
        raise


class DocumentPart:
    """Writes the part of one document; a `with` block that ends without an error moves it to its final path.

    Each array is written immediately, so not all arrays are in memory at once.
    """

    def __init__(self, root: Path, number: int) -> None:
        self.target = path(root, number)
        self._draft = self.target.with_name(f".{self.target.stem}.{os.getpid()}")

    def __enter__(self) -> DocumentPart:
        with plain_disk_errors(self.target):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self._zip = zipfile.ZipFile(self._draft, "w", zipfile.ZIP_STORED)
        return self

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array under a name."""
        with plain_disk_errors(self.target), self._zip.open(f"{name}.npy", "w", force_zip64=True) as stream:
            np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)

    def describe(self, facts: dict[str, Any]) -> None:
        """Write facts of the document, such as its name and digest."""
        with plain_disk_errors(self.target):
            self._zip.writestr("document.json", json.dumps(facts))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with plain_disk_errors(self.target):
                self._zip.close()
                if kind is None:
                    os.replace(self._draft, self.target)
        except ThesisError:
            if kind is None:
                raise
        finally:
            self._draft.unlink(missing_ok=True)


class PartReader:
    """Reads a document's part array by array.

    The constructor and all methods raise DataError, which names the file, if the part is damaged.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with self._report_damage():
            self._zip = zipfile.ZipFile(file)

    def __enter__(self) -> PartReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @contextmanager
    def _report_damage(self) -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:  # zipfile raises a dozen kinds of errors for a damaged file
            raise DataError(
                f"{self._file}: damaged ({error}); remove it, and rerun the command; "
                "the document is then captured again"
            ) from error

    def array(self, name: str) -> NDArray[Any]:
        """Return an array by its name."""
        with self._report_damage():
            return np.asarray(np.lib.format.read_array(io.BytesIO(self._zip.read(f"{name}.npy")), allow_pickle=False))

    def document(self) -> dict[str, Any]:
        """Return the facts on the document, which `DocumentPart.describe` wrote."""
        with self._report_damage():
            facts: dict[str, Any] = json.loads(self._zip.read("document.json"))
            return facts
