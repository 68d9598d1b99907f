"""Limit the time and memory of Python code that might not terminate."""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from boundpaper.errors import SpecError

_STATUS = Path("/proc/self/statm")  # memory in pages; without this file, memory is not limited


@contextmanager
def limit_resources(seconds: float, memory: int) -> Iterator[None]:
    """End the block after `seconds` of processor time, or when it uses `memory` more bytes than before.

    The limits apply only in the main thread, since no other thread receives signals. Raises SpecError when the block
    exceeds the time, MemoryError when it exceeds the memory.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SpecError(f"takes more than {seconds:g} s; a loop in it is endless or much too long")

    old_handler, (soft, hard) = signal.signal(signal.SIGVTALRM, stop), resource.getrlimit(resource.RLIMIT_AS)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        if _STATUS.exists():
            limit = int(_STATUS.read_text().split()[0]) * resource.getpagesize() + memory
            resource.setrlimit(resource.RLIMIT_AS, (limit if soft < 0 else min(limit, soft), hard))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old_handler)
