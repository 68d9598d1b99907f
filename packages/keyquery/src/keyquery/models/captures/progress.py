"""Report the progress of a capture, and its speed."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CaptureProgress:
    """Progress of a capture.

    `done` and `total` count documents; `total` is None if it is unknown. `tokens_per_second` is the rate of this run,
    or 0 before its first document. `notes` are remarks for users of the capture; only the first progress of a run has
    them.
    """

    done: int
    total: int | None
    tokens_per_second: float = 0.0
    seconds_left: float | None = None
    notes: tuple[str, ...] = ()


Report = Callable[[CaptureProgress], None]


class Clock:
    """Counts documents and measures the capture's speed."""

    def __init__(self, report: Report, total: int | None, shard: tuple[int, int], notes: tuple[str, ...] = ()) -> None:
        if total is not None:
            total = len(range(shard[0], total, shard[1]))
        self._report, self._total = report, total
        self._done, self._done_now, self._tokens, self._start = 0, 0, 0, time.perf_counter()
        report(CaptureProgress(0, total, notes=notes))

    def skip(self) -> None:
        """Count a document that an earlier run finished."""
        self._done += 1
        self._start = time.perf_counter() if not self._done_now else self._start

    def step(self, tokens: int) -> None:
        """Count a document that this run finished, with its number of tokens."""
        self._done += 1
        self._done_now += 1
        self._tokens += tokens
        seconds = max(time.perf_counter() - self._start, 1e-9)
        seconds_left = None if self._total is None else max(0, self._total - self._done) * seconds / self._done_now
        self._report(CaptureProgress(self._done, self._total, self._tokens / seconds, seconds_left))
