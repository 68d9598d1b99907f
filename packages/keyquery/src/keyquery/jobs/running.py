"""Run all unfinished jobs to the end, and report all failures together."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from boundpaper.errors import DataError, SpecError, ThesisError
from keyquery.jobs.content import dotted_name, key
from keyquery.jobs.executors import JobExecutor
from keyquery.jobs.failure import Failure, JobsFailed
from keyquery.jobs.folder import JobFolder
from keyquery.jobs.perform import FailureText, perform

T = TypeVar("T")
LOOK_SECONDS = 0.5  # shortest time between two checks of open jobs' folders
LOOK_SHARE = 0.01  # shortest time per open job: a thousand jobs on a network file system are checked every 10 s


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """Progress of a set of jobs.

    `kept` is the number of jobs that an earlier run finished; `done`, `failed` and `running` are numbers of jobs of
    this run. `seconds` is the time since the start, and `seconds_left` an estimate from this run's rate, or None before
    the first job ends. `event` is what just happened, such as `shard 2 of 3: finished`, or empty if only reports
    changed. `reports` maps the name of each running job to the last line that it reported.
    """

    total: int
    kept: int
    done: int
    failed: int
    running: int
    seconds: float
    seconds_left: float | None
    event: str
    reports: Mapping[str, str]


@dataclass
class _RunState:
    """The jobs of a run by state; a job is represented by its index in `names` and `folders`."""

    names: Sequence[str]
    folders: Sequence[JobFolder]
    progress: Callable[[JobProgress], None]
    started_at: float = field(default_factory=time.monotonic)
    kept: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    failed: dict[int, Failure] = field(default_factory=dict)
    open: dict[Future[Any], int] = field(default_factory=dict)
    reports: dict[int, str] = field(default_factory=dict)
    last_shown: tuple[int, dict[str, str]] = (0, {})

    def check_folders(self) -> None:
        """Read the progress of running jobs, and collect results that another run has written meanwhile."""
        for future, job in list(self.open.items()):
            if future.running():
                self.reports[job] = self.folders[job].report()
            # The same job, left in the cluster's queue by a killed run, may have written the result.
            elif self.folders[job].finished() and future.cancel():
                del self.open[future]
                self.finish(job)
        self.show_progress(None, "")

    def show_progress(self, job: int | None, event: str) -> None:
        """Show the progress after an event of a job (of the run if `job` is None) or, without event, after a change."""
        running = [index for future, index in self.open.items() if future.running()]
        reports = {self.names[index]: text for index in running if (text := self.reports.get(index))}
        if job is None and not event and (len(running), reports) == self.last_shown:
            return
        self.last_shown = len(running), reports
        seconds = time.monotonic() - self.started_at
        ended = len(self.done) + len(self.failed)
        self.progress(
            JobProgress(
                total=len(self.names),
                kept=len(self.kept),
                done=len(self.done),
                failed=len(self.failed),
                running=len(running),
                seconds=seconds,
                seconds_left=seconds / ended * len(self.open) if ended else None,
                event=event if job is None else f"{self.names[job]}: {event}",
                reports=reports,
            )
        )

    def fail(self, job: int, reason: str, tail: str) -> None:
        self.failed[job] = Failure(self.names[job], reason, self.folders[job].log, tail)
        self.show_progress(job, f"failed: {reason.splitlines()[0] if reason else 'without a message'}")

    def finish(self, job: int) -> None:
        self.done.add(job)
        self.show_progress(job, "finished")


def run_jobs(
    function: Callable[..., T],
    arguments: Sequence[Mapping[str, Any]],
    executor: Executor,
    folder: Path,
    *,
    names: Sequence[str] | None = None,
    version: str = "",
    valid: Callable[[T], bool] = lambda result: True,
    progress: Callable[[JobProgress], None] = lambda state: None,
) -> list[T]:
    """Run a function once for each set of arguments, as a job in a separate process; return the results in order.

    A job's folder `folder/KEY` has the call (`job.json`), the log and the result; KEY is a hash of the function's
    name, the arguments and `version`. A job that has a result is not run again, so repeating a stopped run with the
    same arguments runs only the missing jobs. If a job fails, the others still run to the end. On Ctrl-C, and on any
    error of `run_jobs` itself, running jobs are stopped, and finished results are kept.

    Parameters
    ----------
    function : callable
        A function at the top level of a module, whose return value can be pickled.
    arguments : sequence of mapping
        The keyword arguments of each job; equal sets are one job. `keyquery.jobs.content.key` says what they may hold.
    executor : Executor
        From `open_executor`; it makes each call in another process, which must see `folder`.
    names : sequence of str or None
        The names of the jobs in messages; if None, messages show the arguments.
    version : str
        Anything else that determines the results, such as a fingerprint of the model.
    valid : callable
        Returns whether an earlier result is still valid, for example whether the files that it names exist.
    progress : callable
        Called in this thread with a `JobProgress` at every event and report.

    Raises
    ------
    JobsFailed
        After all jobs have ended, when some failed; it shows the log of each, and has the results of the others.
    SpecError
        When an argument cannot be hashed, the function cannot be imported by name, or `names` has another length.
    """
    if names is not None and len(names) != len(arguments):
        raise SpecError(f"{len(names)} names for {len(arguments)} jobs: give one each")
    keys = [key(function, job_arguments, version) for job_arguments in arguments]
    job_names = names if names is not None else [_job_name(job_arguments) for job_arguments in arguments]
    first_positions: dict[str, int] = {}  # equal jobs run once, under the name of the first
    for position, job_key in enumerate(keys):
        first_positions.setdefault(job_key, position)
    folders = [JobFolder(folder.absolute() / job_key) for job_key in first_positions]
    state = _RunState([job_names[position] for position in first_positions.values()], folders, progress)

    results: dict[int, T] = {}
    unfinished = {}
    for job, position in enumerate(first_positions.values()):
        if not _take_earlier_result(results, job, state, valid):
            unfinished[job] = arguments[position]
    earlier = f", {len(state.kept)} of them finished earlier" if state.kept else ""
    state.show_progress(None, f"{len(folders)} job{'s' if len(folders) != 1 else ''}{earlier}")
    if unfinished:
        for job, job_arguments in unfinished.items():
            folders[job].describe(state.names[job], dotted_name(function), job_arguments, version)
        try:
            calls = [(str(folders[job].path), function, job_arguments) for job, job_arguments in unfinished.items()]
            state.open = dict(zip(_submit_jobs(executor, calls), unfinished, strict=True))
            _collect_outcomes(state)
        except BaseException:
            _end_jobs(executor)
            raise
    for job in state.done:
        results[job] = folders[job].load()
    if state.failed:
        failures = [state.failed[job] for job in sorted(state.failed)]
        raise JobsFailed(failures, len(folders), [results[job] for job in sorted(results)])
    job_by_key = {job_key: job for job, job_key in enumerate(first_positions)}
    return [results[job_by_key[job_key]] for job_key in keys]


def _take_earlier_result(results: dict[int, T], job: int, state: _RunState, valid: Callable[[T], bool]) -> bool:
    """Add an earlier run's valid result to `results`; return whether there is one. Remove and report an invalid one."""
    folder = state.folders[job]
    if not folder.finished():
        return False
    try:
        result: T = folder.load()
        fault = "" if valid(result) else "files of its earlier result are missing"
    except DataError:
        fault = "its earlier result cannot be read"
    if fault:
        folder.result.unlink(missing_ok=True)
        state.show_progress(job, f"{fault}; running it again")
        return False
    results[job] = result
    state.kept.add(job)
    return True


def _submit_jobs(executor: Executor, calls: list[tuple[Any, ...]]) -> list[Future[Any]]:
    if isinstance(executor, JobExecutor):
        return executor.submit_all(perform, calls)
    return [executor.submit(perform, *call) for call in calls]


def _end_jobs(executor: Executor) -> None:
    if isinstance(executor, JobExecutor):
        executor.end()
    else:  # a standard executor can cancel only calls that have not started
        executor.shutdown(wait=False, cancel_futures=True)


def _collect_outcomes(state: _RunState) -> None:
    """Collect the outcomes of open jobs as they arrive."""
    checked_at = time.monotonic()
    while state.open:
        interval = max(LOOK_SECONDS, LOOK_SHARE * len(state.open))
        ended, _ = wait(state.open, timeout=interval, return_when=FIRST_COMPLETED)
        for future in ended:
            _take_outcome(state, state.open.pop(future), future)
        if time.monotonic() - checked_at >= interval:
            checked_at = time.monotonic()
            state.check_folders()


def _take_outcome(state: _RunState, job: int, future: Future[Any]) -> None:
    folder = state.folders[job]
    if folder.finished():
        state.finish(job)
    elif future.cancelled():
        state.fail(job, "cancelled", folder.tail())
    elif (error := future.exception()) is not None:
        reason = str(error) if isinstance(error, ThesisError) else f"{type(error).__name__}: {error}"
        state.fail(job, reason, folder.tail())
    elif isinstance(failure := future.result(), FailureText):
        reason = failure.message if failure.explained else f"{failure.kind}: {failure.message}"
        state.fail(job, reason, "" if failure.explained else folder.tail())
    else:
        state.fail(job, f"ended, but its result is not in {folder.path}", folder.tail())


def _job_name(arguments: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in arguments.items()) or "the job"
    return text if len(text) <= 100 else text[:97] + "..."
