"""Cache measurements: answers are kept under a hash of the question and of the code that answers it.

The code of a step is the import closure of its module, as the graph of the build knows it, without comments and
docstrings: a file added elsewhere makes no answer outdated.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from boundpaper.build.closure import code_of
from boundpaper.errors import DataError
from boundpaper.places import project_or_none
from boundpaper.store.cached_files import keep_value, read_kept
from keyquery.jobs.content import key

T = TypeVar("T")
_memory: dict[str, Any] = {}


@dataclass(frozen=True)
class FileForm(Generic[T]):
    """How a value is stored in a file.

    `suffix` is that of the file's name. `load` raises DataError, OSError, TypeError or ValueError when the file is cut
    off or of another version; `save` writes it whole or not at all.
    """

    suffix: str
    load: Callable[[Path], T]
    save: Callable[[Path, T], Any]


def _save_json(path: Path, value: Any) -> None:
    keep_value(path, value)


JSON: FileForm[Any] = FileForm(".json", read_kept, _save_json)


def code_hash(module: str) -> str:
    """Return a hash of the code that a module runs: its own file, this one, and the files that it imports."""
    return _code_hash(project_or_none() or Path(__file__).parent, module)  # outside of a project, of what is installed


@functools.cache
def _code_hash(root: Path, module: str) -> str:
    return code_of(root, [module, __name__])


def cache_name(step: Callable[..., Any], asked: Mapping[str, Any], module: str = "") -> str:
    """Return the name under which a step's answer is kept.

    The name of the function `step` counts, and the code of its module, or of `module` where that code answers. `asked`
    is what the answer depends on beside the code, as `keyquery.jobs.content.key` hashes it.
    """
    return key(step, asked, code_hash(module or step.__module__))


def cached(
    name: str, make: Callable[[], T], folder: Path | None, form: FileForm[T] = JSON, *, remember: bool = True
) -> tuple[T, bool]:
    """Return the value of `make()`, taken from the cache if an earlier call left it there, and whether it was taken.

    `name` is what `cache_name` returns. The cache's files lie in `folder`; None keeps nothing beyond this process.
    `remember` says whether this process keeps the value; not where there are many that are read once.
    """
    if name in _memory:
        return _memory[name], True
    path = None if folder is None else folder / f"{name}{form.suffix}"
    there = False
    if path is not None and path.is_file():
        try:
            value, there = form.load(path), True
        except (DataError, OSError, TypeError, ValueError):  # cut off by a full disk, or of another version: made anew
            there = False
    if not there:
        value = make()
        if path is not None:
            form.save(path, value)
    if remember:
        _memory[name] = value
    return value, there
