"""Cache measurements under a hash of the inputs and of the code that computes them.

The code is the function's module and all modules that it imports, directly or not, without comments and docstrings.
"""

import functools
from collections.abc import Callable, Mapping
from contextlib import suppress
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

    `suffix` is the file name's suffix. `load` raises DataError, OSError, TypeError or ValueError if the file is
    truncated or of another version; `save` writes atomically.
    """

    suffix: str
    load: Callable[[Path], T]
    save: Callable[[Path, T], Any]


JSON: FileForm[Any] = FileForm(".json", read_kept, keep_value)


def code_hash(module: str) -> str:
    """Return a hash of the code that a module runs: its file, all files that it imports, and this file."""
    return _code_hash(project_or_none() or Path(__file__).parent, module)  # outside of a project: this folder


@functools.cache
def _code_hash(root: Path, module: str) -> str:
    return code_of(root, [module, __name__])


def cache_name(step: Callable[..., Any], arguments: Mapping[str, Any], module: str = "") -> str:
    """Return the name under which the result of the function `step` is cached.

    The name depends on the function's name and on the code of its module, or of `module` if given. `arguments` is
    everything else that the result depends on; `keyquery.jobs.content.key` hashes it.
    """
    return key(step, arguments, code_hash(module or step.__module__))


def cached(
    name: str, make: Callable[[], T], folder: Path | None, form: FileForm[T] = JSON, *, remember: bool = True
) -> tuple[T, bool]:
    """Return the value of `make()`, from the cache if possible, and whether it came from the cache.

    `name` is the result of `cache_name`. The cache's files are in `folder`; if it is None, values are cached in memory
    only. `remember` says whether to keep the value in memory too, which is wasteful for values that are read once.
    """
    if name in _memory:
        return _memory[name], True
    path = None if folder is None else folder / f"{name}{form.suffix}"
    from_cache = False
    if path is not None and path.is_file():
        with suppress(DataError, OSError, TypeError, ValueError):  # truncated, or of another version: compute again
            value, from_cache = form.load(path), True
    if not from_cache:
        value = make()
        if path is not None:
            form.save(path, value)
    if remember:
        _memory[name] = value
    return value, from_cache
