"""Run a job's function in the job's process; write its output to the job's log and its result to the job's folder."""

import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import ThesisError
from boundpaper.store.files import write
from keyquery.jobs.folder import JobFolder

REPORT_SECONDS = 0.5  # shortest time between two progress reports


@dataclass(frozen=True)
class FailureText:
    """A job's exception as text, since some exceptions cannot be pickled.

    `kind` is the name of the exception's class; `explained` says whether the message suffices for a user, as the
    messages of this project's errors do.
    """

    kind: str
    message: str
    explained: bool


_current_job: JobFolder | None = None
_reported_at = 0.0


def perform(folder: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> FailureText | None:
    """Run a job in this process and save its result in the folder; return the failure, or None if the job succeeded.

    The process must serve only this job, since its standard streams are redirected to the log.
    """
    global _current_job
    job = JobFolder(Path(folder))
    with _send_output_to(job):
        _current_job = job
        try:
            with job.locked():
                if not job.finished():  # another run may have finished it while this one waited
                    job.save(function(**arguments))
        except Exception as error:
            traceback.print_exc()
            if type(error).__module__.startswith("submitit"):
                raise  # submitit raises this at the time limit, and must catch it
            return FailureText(type(error).__name__, str(error), isinstance(error, ThesisError))
        finally:
            _current_job = None
    return None


def report(text: str) -> None:
    """Report the progress of the running job in one line, which the command shows; do nothing outside of a job.

    `text` is, for instance, `12 of 500 documents, 4 min left`. A report less than half a second after the last is
    dropped.
    """
    global _reported_at
    now = time.monotonic()
    if _current_job is not None and now - _reported_at >= REPORT_SECONDS:
        _reported_at = now
        with suppress(ThesisError):  # failing to write a progress report must not end hours of work
            write(_current_job.progress, text.encode())


@contextmanager
def _send_output_to(job: JobFolder) -> Iterator[None]:
    """Send all output to the job's log, including the output of C libraries and child processes."""
    log = job.begin_log()
    sys.stdout.flush()
    sys.stderr.flush()
    copies = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
    streams = sys.stdout, sys.stderr
    try:
        for descriptor in copies:
            os.dup2(log, descriptor)
        os.close(log)
        sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        faulthandler.enable(2, all_threads=False)  # a crash in a library leaves the Python stack in the log
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = streams
        for descriptor, copy in copies.items():
            os.dup2(copy, descriptor)
            os.close(copy)
