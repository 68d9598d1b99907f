"""Wait for events in other processes, so that no test depends on their speed."""

import time
from collections.abc import Callable
from pathlib import Path

GIVEN_UP = 900.0  # seconds after which a wait fails instead of hanging; no machine is that slow


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    limit = time.monotonic() + GIVEN_UP
    while not condition():
        assert time.monotonic() < limit, "the condition never held"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    """Return whether a process has ended; a zombie counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
