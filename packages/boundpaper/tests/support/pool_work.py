"""What the workers of a pool are given by the tests: in a module of its own, so that other processes can import it."""

import ctypes
import os
from pathlib import Path


def square(number: int) -> int:
    return number * number


def deaf_in(folder: Path) -> None:
    """Hear of nothing for ever, as a worker that imports a library does for a while, and say in a file who does."""
    path = folder / str(os.getpid())
    path.with_suffix(".draft").write_text(path.name)
    path.with_suffix(".draft").rename(path)
    ctypes.PyDLL(None).pause()  # no other thread of this process runs meanwhile
