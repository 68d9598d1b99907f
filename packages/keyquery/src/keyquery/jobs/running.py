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
LOOK_SECONDS = 0.5  # seconds between two checks of open jobs' folders,
LOOK_SHARE = 0.01  # plus this much per open job: a thousand jobs on a network file system are checked every 10 s


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """Progress of a set of jobs.

    `kept` counts jobs finished by an earlier run; other counts refer to this run. `seconds` is the time since the
    start, `seconds_left` an estimate from this run's rate, None before the first job ends. `event` is what just
    happened, such as `shard 2 of 3: finished`, or empty if only reports changed; `reports` maps the names of running
    jobs to their last `report`.
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
    """The jobs of a run by state, as indices."""

    names: Sequence[str]
    folders: Sequence[JobFolder]
    tell: Callable[[JobProgress], None]
    begun: float = field(default_factory=time.monotonic)
    kept: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    failed: dict[int, Failure] = field(default_factory=dict)
    open: dict[Future[Any], int] = field(default_factory=dict)
    reports: dict[int, str] = field(default_factory=dict)
    shown: tuple[int, dict[str, str]] = (0, {})

    def look(self) -> None:
        """Read the progress of running jobs, and collect results that another run has written meanwhile."""
        for future, job in list(self.open.items()):
            if future.running():
                self.reports[job] = self.folders[job].report()
            # A killed run may have left this job in the cluster's queue: use that job's result.
            elif self.folders[job].finished() and future.cancel():
                del self.open[future]
                self.finish(job)
        self.say(None, "")

    def say(self, job: int | None, event: str) -> None:
        """Report an event of a job, or without an event any other change of progress."""
        at_work = [index for future, index in self.open.items() if future.running()]
        reports = {self.names[index]: text for index in at_work if (text := self.reports.get(index))}
        if job is None and not event and (len(at_work), reports) == self.shown:
            return
        self.shown = len(at_work), reports
        seconds = time.monotonic() - self.begun
        ended = len(self.done) + len(self.failed)
        self.tell(
            JobProgress(
                total=len(self.names),
                kept=len(self.kept),
                done=len(self.done),
                failed=len(self.failed),
                running=len(at_work),
                seconds=seconds,
                seconds_left=seconds / ended * len(self.open) if ended else None,
                event=event if job is None else f"{self.names[job]}: {event}",
                reports=reports,
            )
        )

    def fail(self, job: int, reason: str, tail: str) -> None:
        self.failed[job] = Failure(self.names[job], reason, self.folders[job].log, tail)
        self.say(job, f"failed: {reason.splitlines()[0] if reason else 'without a word'}")

    def finish(self, job: int) -> None:
        self.done.add(job)
        self.say(job, "finished")


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
    """Run a function once for each set of arguments, each call as a job in a separate process; return results in order.

    A job's folder `folder/KEY` has the call (`job.json`), the log and the result; KEY is a hash of the function's
    name, the arguments and `version`. A job that has a result is not run again, so repeating a stopped run with the
    same arguments runs only the missing jobs. If a job fails, the others still run to the end. On Ctrl-C, and on any
    error of `run_jobs` itself, running jobs are stopped; results are kept. Raises JobsFailed when a job failed, after
    all others have ended; it lists each with its log and the log's last lines, and has the results of the others.
    Raises SpecError when a job cannot be keyed, or the function cannot be imported by name.

    `function` is of a module's top level, and its value can be pickled. `arguments` are the keyword arguments of each
    job; see `keyquery.jobs.content.key` for what they may hold; equal sets are one job. `executor`, from
    `open_executor`, calls each function in another process, which must see `folder`. `names` are those of the jobs in
    messages (None: the arguments are shown), and `version` is a text for anything else that determines the results,
    such as a fingerprint of the model. `valid` returns whether an earlier result is still valid, for example whether
    the files that it names exist; `progress` is called in this thread with a `JobProgress` at every event and report.
    """
    if names is not None and len(names) != len(arguments):
        raise SpecError(f"{len(names)} names for {len(arguments)} jobs: give one each")
    keys = [key(function, job_arguments, version) for job_arguments in arguments]
    # Equal jobs are run once, under the first one's name.
    job_names = names if names is not None else [_job_name(job_arguments) for job_arguments in arguments]
    index = {job_key: position for position, job_key in reversed(list(enumerate(keys)))}
    jobs = {job_key: index[job_key] for job_key in dict.fromkeys(keys)}
    folders = [JobFolder(folder.absolute() / job) for job in jobs]
    state = _RunState([job_names[position] for position in jobs.values()], folders, progress)

    results: dict[int, T] = {}
    to_run = {}
    for job, position in enumerate(jobs.values()):
        if not _take_earlier_result(results, job, state, valid):
            to_run[job] = arguments[position]
    state.say(None, _opening_line(state))
    if to_run:
        for job, job_arguments in to_run.items():
            folders[job].describe(state.names[job], dotted_name(function), job_arguments, version)
        try:
            calls = [(str(folders[job].path), function, job_arguments) for job, job_arguments in to_run.items()]
            state.open = dict(zip(_submit_jobs(executor, calls), to_run, strict=True))
            _collect_outcomes(state)
        except BaseException:
            _end_jobs(executor)
            raise
    for job in state.done:
        results[job] = folders[job].load()
    if state.failed:
        failures = [state.failed[job] for job in sorted(state.failed)]
        raise JobsFailed(failures, len(folders), [results[job] for job in sorted(results)])
    order = {job_key: job for job, job_key in enumerate(jobs)}
    return [results[order[job_key]] for job_key in keys]


def _take_earlier_result(results: dict[int, T], job: int, state: _RunState, valid: Callable[[T], bool]) -> bool:
    """Take the valid result of an earlier run if there is one; report why a result is not valid."""
    place = state.folders[job]
    if not place.finished():
        return False
    try:
        result: T = place.load()
        fault = "" if valid(result) else "files of its earlier result are missing"
    except DataError:
        fault = "its earlier result cannot be read"
    if fault:
        place.result.unlink(missing_ok=True)
        state.say(job, f"{fault}; running it again")
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
    looked = time.monotonic()
    while state.open:
        pace = max(LOOK_SECONDS, LOOK_SHARE * len(state.open))
        ended, _ = wait(state.open, timeout=pace, return_when=FIRST_COMPLETED)
        for future in ended:
            _take_outcome(state, state.open.pop(future), future)
        if time.monotonic() - looked >= pace:
            looked = time.monotonic()
            state.look()


def _take_outcome(state: _RunState, job: int, future: Future[Any]) -> None:
    place = state.folders[job]
    if place.finished():
        state.finish(job)
        return
    error = future.exception() if not future.cancelled() else None
    broken = None if future.cancelled() or error is not None else future.result()
    if isinstance(broken, FailureText):
        reason = broken.message if broken.explained else f"{broken.kind}: {broken.message}"
        state.fail(job, reason, "" if broken.explained else place.tail())
    elif error is not None:
        reason = str(error) if isinstance(error, ThesisError) else f"{type(error).__name__}: {error}"
        state.fail(job, reason, place.tail())
    else:
        reason = "cancelled" if future.cancelled() else f"ended, but its result is not in {place.path}"
        state.fail(job, reason, place.tail())


def _opening_line(state: _RunState) -> str:
    earlier = f", {len(state.kept)} of them finished earlier" if state.kept else ""
    return f"{len(state.names)} job{'s' if len(state.names) != 1 else ''}{earlier}"


def _job_name(arguments: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in arguments.items()) or "the job"
    return text if len(text) <= 100 else text[:97] + "..."
