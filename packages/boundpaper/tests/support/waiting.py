"""Waiting for what happens in other processes: no test's outcome depends on how long it takes."""

import time
from collections.abc import Callable
from pathlib import Path

GIVEN_UP = 900.0  # seconds after which a wait ends in a failure, where it would never end: no machine is that slow


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    limit = time.monotonic() + GIVEN_UP
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    """Whether a process has ended; a zombie that nobody has collected yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
