"""CPU time and memory of this process, for the other scripts of this folder."""

import time
from collections.abc import Callable
from pathlib import Path


def seconds_of_one_call(action: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def memory_in_mb(name: str) -> float:
    """Return the peak memory of this process in MB if `name` is VmHWM, or its current memory if `name` is VmRSS."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024
