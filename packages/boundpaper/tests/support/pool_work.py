"""Functions that tests send to pool workers: in a separate module, so that workers can import it."""

import ctypes
import os
from pathlib import Path


def square(number: int) -> int:
    return number * number


def hang(folder: Path) -> None:
    """Write the process id to a file, and then ignore signals forever, like a worker importing a library."""
    path = folder / str(os.getpid())
    path.with_suffix(".draft").write_text(path.name)
    path.with_suffix(".draft").rename(path)
    ctypes.PyDLL(None).pause()  # no other thread of this process runs during the sleep
