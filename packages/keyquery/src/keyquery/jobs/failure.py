"""Describe jobs that failed, and define the error that lists them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from boundpaper.errors import ThesisError


class JobDied(ThesisError):
    """A job ended without an outcome: it was killed, crashed, exceeded its limits, or was cancelled from outside."""


@dataclass(frozen=True)
class Failure:
    """A job that failed.

    `tail` has the last lines of the log; it is empty if the reason suffices. `log` is the path of the log, which does
    not exist if the job failed before opening it.
    """

    name: str
    reason: str
    log: Path
    tail: str = ""

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.reason}"]
        if self.log.is_file():
            lines.append(f"  log: {self.log}")
        if self.tail:
            lines.append(indent(self.tail, "  | "))
        return "\n".join(lines)


class JobsFailed(ThesisError):
    """Some jobs failed; `results` has the results of all other jobs, which the next run does not repeat."""

    def __init__(self, failures: Sequence[Failure], total: int, results: Sequence[Any] = ()) -> None:
        self.failures, self.total, self.results = tuple(failures), total, tuple(results)
        lines = "\n".join(indent(str(failure), "  ") for failure in failures)
        jobs = "job" if total == 1 else "jobs"
        super().__init__(
            f"{len(failures)} of {total} {jobs} failed:\n{lines}\n"
            "Finished jobs are kept: repeat the command to run only the missing ones."
        )

    def __reduce__(self) -> tuple[type[JobsFailed], tuple[Sequence[Failure], int, Sequence[Any]]]:
        return type(self), (self.failures, self.total, self.results)
