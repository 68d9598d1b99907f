"""Report the progress of a capture, and its speed."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CaptureProgress:
    """Progress of a capture.

    `total` is None if the number of documents is unknown. `tokens_per_second` is the rate of this run, 0 before its
    first document. `notes` are remarks for users of the capture, only in the first state of a run.
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
        self._done, self._run, self._tokens, self._start = 0, 0, 0, time.perf_counter()
        report(CaptureProgress(0, total, notes=notes))

    def skip(self) -> None:
        """Count a document that an earlier run finished."""
        self._done += 1
        self._start = time.perf_counter() if not self._run else self._start

    def step(self, tokens: int) -> None:
        """Count a document of this run."""
        self._done += 1
        self._run += 1
        self._tokens += tokens
        seconds = max(time.perf_counter() - self._start, 1e-9)
        seconds_left = None if self._total is None else max(0, self._total - self._done) * seconds / self._run
        self._report(CaptureProgress(self._done, self._total, self._tokens / seconds, seconds_left))
