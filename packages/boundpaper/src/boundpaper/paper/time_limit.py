"""A limit to the time that code of Python may take, where it could go on without end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from boundpaper.errors import SpecError


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End the block after so many seconds of the processor; in the main thread only, since none other hears of signals.

    Raises
    ------
    SpecError
        When the block took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise SpecError(f"takes more than {seconds:g} s; a loop in it has no end, or is much too long")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
