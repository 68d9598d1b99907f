"""Run jobs through Slurm: submitit writes scripts and pickles, and this module watches the queue.

submitit detects dead jobs only through Slurm's accounting, which many clusters lack. This module asks `squeue` instead.
"""

import getpass
import importlib
import io
import logging
import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from boundpaper.build.interrupt import delay_exit
from boundpaper.errors import MissingDependency, ThesisError
from keyquery.jobs import squeue
from keyquery.jobs.executors import JobExecutor
from keyquery.jobs.failure import JobDied
from keyquery.jobs.folder import last_lines
from keyquery.jobs.resources import MINUTES, Resources

P = ParamSpec("P")
T = TypeVar("T")
LOOK_SECONDS = 1.0  # seconds between checks for results
RESULT_SECONDS = 60.0  # seconds for a result to arrive through a shared file system
_SBATCH = re.compile(r"^sbatch: (?:error|fatal|warning): ")
_UNREACHABLE = ("configuration source", "Unable to contact slurm controller", "slurm.conf")  # in messages of sbatch
_NO_CLUSTER = "no cluster answers on this machine; run it where `sinfo` lists one, or leave --executor out"
SILENT_SECONDS = 900.0  # seconds without an answer from squeue until the jobs count as lost


@dataclass
class _OpenCall:
    """A submitted call whose outcome has not arrived yet."""

    job: Any  # submitit's job
    future: Future[Any]
    gone_since: float | None = None


class SlurmExecutor(JobExecutor):
    """An executor that submits every call to Slurm; calls submitted together form one job array.

    Settings missing from `resources` come from Slurm's environment variables, such as `SBATCH_ACCOUNT` (see `man
    sbatch`). Scripts, pickled calls and raw logs are written to `folder`, which all nodes must share. `parallel` limits
    the number of concurrent jobs of an array (None: no limit), and `look` is the seconds between two calls of squeue.
    Raises MissingDependency when submitit or a program of Slurm is not installed.
    """

    def __init__(self, folder: Path, resources: Resources, parallel: int | None = None, look: float = 10.0) -> None:
        squeue.require_programs()
        try:
            submitit = importlib.import_module("submitit")
        except ImportError:
            raise MissingDependency.package("submitit", "cluster", "for the executor slurm") from None
        logging.getLogger("submitit").setLevel(logging.ERROR)  # its warnings about accounting do not matter here
        self._folder, self._look, self._minutes = folder.absolute(), look, resources.minutes or MINUTES
        self._setup = list(resources.setup)
        self._executor = submitit.AutoExecutor(folder=self._folder, cluster="slurm")
        self._executor.update_parameters(**submitit_parameters(resources, parallel))
        self._user = getpass.getuser()
        self._lock = threading.Lock()
        self._open: dict[str, _OpenCall] = {}
        self._closed = threading.Event()
        self._watcher: threading.Thread | None = None

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit one call as one job.

        Raises ThesisError when Slurm refuses it.
        """
        return self._submit_calls(lambda: [self._executor.submit(fn, *args, **kwargs)])[0]

    def submit_all(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Future[Any]]:
        """Submit calls as one job array, or as several if Slurm does not allow an array of that length.

        Raises ThesisError when Slurm refuses the jobs.
        """
        futures = []
        largest = squeue.largest_array()
        for start in range(0, len(calls), largest):
            futures += self._submit_calls(partial(self._submit_array, function, calls[start : start + largest]))
        return futures

    def _submit_array(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        with self._executor.batch():
            return [self._executor.submit(function, *call) for call in calls]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls; with `wait`, return when all calls have ended."""
        self._closed.set()
        if cancel_futures:
            with self._lock:
                futures = [call.future for call in self._open.values()]
            for future in futures:
                future.cancel()
        if wait and self._watcher is not None:
            self._watcher.join()

    def end(self) -> None:
        """Cancel all unfinished jobs; return when Slurm has removed them from its nodes, or after 30 seconds."""
        self._closed.set()
        with self._lock:
            calls, self._open = self._open, {}
        with delay_exit():
            self._cancel_calls(calls)

    def _cancel_calls(self, calls: dict[str, _OpenCall]) -> None:
        squeue.cancel_jobs(list(calls))
        for call in calls.values():
            if not call.future.cancel():
                with suppress(InvalidStateError):
                    call.future.set_exception(JobDied("ended before it finished"))
        deadline = time.monotonic() + 30
        while calls and time.monotonic() < deadline:
            states = squeue.job_states(self._user)
            if states is None or not any(squeue.may_run(states.get(name)) for name in calls):
                return
            time.sleep(0.2)

    def _submit_calls(self, send: Callable[[], list[Any]]) -> list[Future[Any]]:
        if self._closed.is_set():
            raise RuntimeError("cannot schedule new futures after shutdown")
        python_path = os.pathsep.join(dict.fromkeys(map(os.path.abspath, filter(None, sys.path))))
        self._executor.update_parameters(slurm_setup=[*self._setup, f"export PYTHONPATH={shlex.quote(python_path)}"])
        try:
            with redirect_stderr(io.StringIO()):  # submitit prints sbatch's output, which the error repeats
                jobs = send()
        except RuntimeError as error:  # submitit's FailedJobError contains sbatch's output
            raise ThesisError(refusal_lines(str(error) or type(error).__name__)) from error
        new_calls = [_OpenCall(job, Future()) for job in jobs]
        with self._lock:
            self._open.update({str(call.job.job_id): call for call in new_calls})
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="slurm", daemon=True)
                self._watcher.start()
        return [call.future for call in new_calls]

    def _watch(self) -> None:
        """Set the outcomes of futures until the executor is closed and all futures are done."""
        asked_at, answered_at = 0.0, time.monotonic()
        while True:
            with self._lock:
                open_calls = dict(self._open)
            if not open_calls and self._closed.is_set():
                return
            self._collect_outcomes(open_calls)
            now = time.monotonic()
            if open_calls and now - asked_at >= self._look:
                states = squeue.job_states(self._user)
                asked_at = time.monotonic()
                answered_at = asked_at if states is not None else answered_at
                if states is not None:
                    for name, call in open_calls.items():
                        self._update_state(name, call, states.get(name), asked_at)
                elif asked_at - answered_at > SILENT_SECONDS:
                    for name in open_calls:
                        self._set_outcome(name, JobDied("squeue has not answered for 15 min; the job may still run"))
            elif not open_calls:
                answered_at = now
            time.sleep(LOOK_SECONDS)

    def _collect_outcomes(self, open_calls: dict[str, _OpenCall]) -> None:
        """Collect outcomes from the folder; listing it also refreshes the cache of a network file system."""
        try:
            files = set(os.listdir(self._folder))
        except OSError:
            return
        for name, call in open_calls.items():
            if call.future.cancelled():
                squeue.cancel_jobs([name])
                self._set_outcome(name, None)
            elif Path(call.job.paths.result_pickle).name in files:
                try:
                    self._set_outcome(name, None, call.job.result())
                except Exception as error:  # the call's exception, as submitit reports it
                    message = str(error)
                    timeout = squeue.reason_of_end("TIMEOUT", self._minutes) if "timed-out" in message else ""
                    self._set_outcome(name, JobDied(timeout or last_lines(message, 8)))

    def _update_state(self, name: str, call: _OpenCall, state: str | None, now: float) -> None:
        """Mark a job as running, or as ended without an outcome, by its state in the queue (None: not in the queue)."""
        if call.future.done():  # its outcome arrived after the queue was read
            return
        if squeue.may_run(state):
            call.gone_since = None
            if state != "PENDING" and not call.future.running():
                call.future.set_running_or_notify_cancel()
            return
        # A result may arrive late through a shared file system. A failed job has no result, so two checks suffice.
        call.gone_since = call.gone_since if call.gone_since is not None else now
        limit = RESULT_SECONDS if state in (None, "COMPLETED") else 2 * LOOK_SECONDS
        if now - call.gone_since >= limit:
            log = last_lines(call.job.stderr() or "", 8)
            self._set_outcome(name, JobDied(squeue.reason_of_end(state, self._minutes) + (f"\n{log}" if log else "")))

    def _set_outcome(self, name: str, error: Exception | None, value: Any = None) -> None:
        with self._lock:
            call = self._open.pop(name, None)
        if call is None or call.future.cancelled():
            return
        if not call.future.running() and not call.future.set_running_or_notify_cancel():
            return
        if error is not None:
            call.future.set_exception(error)
        else:
            call.future.set_result(value)


def submitit_parameters(resources: Resources, parallel: int | None = None) -> dict[str, Any]:
    """Return the parameters for submitit's executor; a parameter of None keeps the cluster's default."""
    return {
        "name": "jobs",
        "timeout_min": resources.minutes or MINUTES,
        "mem_gb": resources.memory,
        "cpus_per_task": resources.cpus,
        "gpus_per_node": resources.gpus or None,
        **{f"slurm_{name}": getattr(resources, name) for name in ("partition", "account", "qos", "constraint")},
        "slurm_array_parallelism": resources.at_once or parallel,
    }


def refusal_lines(output: str) -> str:
    """Return two lines about refused jobs: sbatch's message, and what to try."""
    lines = [_SBATCH.sub("", line).strip() for line in last_lines(output, 3).splitlines()]
    message = "; ".join(line for line in lines if line)
    unreachable = any(words in output for words in _UNREACHABLE)
    advice = _NO_CLUSTER if unreachable else "`sinfo` lists its partitions and their limits"
    return f"Slurm refused the jobs: {message}\n{advice}"
