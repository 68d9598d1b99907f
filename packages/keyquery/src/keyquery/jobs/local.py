"""Run each job on this machine in a fresh Python process, which frees its memory and GPU when it ends."""

import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal, ParamSpec, TypeVar

from boundpaper.build import watchman
from boundpaper.errors import ThesisError
from keyquery.jobs.child import LENGTH
from keyquery.jobs.executors import JobExecutor
from keyquery.jobs.failure import JobDied
from keyquery.jobs.folder import last_lines

P = ParamSpec("P")
T = TypeVar("T")
CHILD = Path(__file__).with_name("child.py")
# The shell waits for a line before it starts the interpreter: the watchdog must know the process first. If this process
# ends before it sends the line, no interpreter starts.
GATE = ("/bin/sh", "-c", 'read -r word && exec "$@"', "gate")
GRACE = 0.5  # seconds between SIGTERM and SIGKILL


class LocalExecutor(JobExecutor):
    """An executor that runs each call in its own process.

    If a job's process dies, only its call fails. All jobs end when this process ends, for whatever reason. `workers`
    processes run at a time; "gpu" means as many as the GPUs allow. `gpus` is the number of GPUs that each process sees;
    with None, a single process sees all GPUs, and several processes see one GPU each, in turn. `cpus` is the number of
    threads of numerical libraries in each process; with None, a single process keeps the libraries' default, and
    several processes share the cores equally unless `OMP_NUM_THREADS` is set. Raises ThesisError when this machine has
    too few GPUs.
    """

    def __init__(self, workers: int | Literal["gpu"] = 1, gpus: int | None = None, cpus: int | None = None) -> None:
        environments = _slot_environments(workers, gpus, cpus)
        self._count = len(environments)
        self._slots: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()
        for environment in environments:
            self._slots.put(environment)
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="job")
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    @property
    def workers(self) -> int:
        """Number of concurrent processes."""
        return self._count

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call a function in a new process; its printed output is dropped, unless the process dies.

        Raises ThesisError when the function or an argument cannot be pickled.
        """
        try:
            call = pickle.dumps((fn, args, kwargs))
        except Exception as error:  # an argument's __reduce__ may raise anything
            raise ThesisError(f"the job {fn!r} cannot be sent to another process: {error}") from error
        future: Future[T] = self._threads.submit(self._run_call, call)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls; with `wait`, return when all calls have ended."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)

    def end(self) -> None:
        """Cancel waiting jobs and end running ones: SIGTERM to each process group, SIGKILL half a second later."""
        with self._lock:
            self._ended = True
            processes = list(self._running)
        try:
            self._threads.shutdown(wait=False, cancel_futures=True)
            _signal_groups(processes, signal.SIGTERM)
            deadline = time.monotonic() + GRACE
            while self._running and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:  # even if a second Ctrl-C arrives meanwhile
            _signal_groups(processes, signal.SIGKILL)
        self._threads.shutdown(wait=True)

    def _run_call(self, call: bytes) -> Any:
        environment = self._slots.get()
        try:
            return self._run_process(call, {**os.environ, **environment})
        finally:
            self._slots.put(environment)

    def _run_process(self, call: bytes, environment: dict[str, str]) -> Any:
        with tempfile.TemporaryFile() as outcome, tempfile.TemporaryFile() as output:
            with self._lock:
                if self._ended:
                    raise JobDied("the job was not started, because the command was stopping")
                process = subprocess.Popen(
                    [*GATE, sys.executable, "-P", str(CHILD)],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    pass_fds=[outcome.fileno()],
                    start_new_session=True,  # only this process receives Ctrl-C; it ends the children
                )
                self._running.add(process)
            assert process.stdin is not None
            try:
                watchman.watch(process.pid)  # while a job imports a library, it does not notice its parent's end
                with suppress(BrokenPipeError):  # the child may die at once; its exit status is read below
                    process.stdin.write(b"go\n")
                    _send_message(process.stdin, pickle.dumps((outcome.fileno(), sys.path)))
                    _send_message(process.stdin, call)
                    process.stdin.flush()
                status = process.wait()
            finally:
                _signal_groups([process], signal.SIGKILL)  # end processes that the job left behind
                with suppress(BrokenPipeError):
                    process.stdin.close()
                watchman.forget_group(process.pid)
                with self._lock:
                    self._running.discard(process)
            return self._read_outcome(status, outcome, output)

    def _read_outcome(self, status: int, outcome: IO[bytes], output: IO[bytes]) -> Any:
        if self._ended:
            raise JobDied("ended before it finished")
        if status != 0:
            output.seek(0)
            log = last_lines(output.read().decode("utf-8", errors="replace"), 8)
            raise JobDied(_describe_exit(status) + (f"\n{log}" if log else ""))
        outcome.seek(0)
        succeeded, value = pickle.loads(outcome.read())
        if succeeded:
            return value
        raise value if isinstance(value, BaseException) else JobDied(value)


def visible_gpus() -> list[str]:
    """Return the GPUs that CUDA programs of this process see, named as in `CUDA_VISIBLE_DEVICES`."""
    setting = os.environ.get("CUDA_VISIBLE_DEVICES")
    if setting is not None:
        return [name.strip() for name in setting.split(",") if name.strip() not in ("", "-1")]
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = subprocess.run(
        [program, "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True, check=False
    )
    return [] if query.returncode else [line.strip() for line in query.stdout.splitlines() if line.strip().isdigit()]


def _slot_environments(workers: int | Literal["gpu"], gpus: int | None, cpus: int | None) -> list[dict[str, str]]:
    """Return the environment variables that assign GPUs and threads to each of the concurrent processes."""
    visible = visible_gpus() if workers == "gpu" or gpus or (gpus is None and workers != 1) else []
    per_job = gpus
    if workers == "gpu":
        per_job = gpus or 1
        count = len(visible) // per_job
        if count == 0:
            raise ThesisError(
                f"too few GPUs: a job needs {per_job}, but this machine shows only {len(visible)}; ask for fewer"
            )
    else:
        count = workers
        if gpus and count * gpus > len(visible):
            raise ThesisError(
                f"{count} jobs with {gpus} GPUs each need more GPUs than this machine's {len(visible)}; ask for fewer"
            )
    environments: list[dict[str, str]] = [{} for _ in range(count)]
    for index, environment in enumerate(environments):
        if per_job is not None:
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(visible[index * per_job : (index + 1) * per_job])
        elif visible and count > 1:
            environment["CUDA_VISIBLE_DEVICES"] = visible[index % len(visible)]
        threads = cpus or (max(1, (os.cpu_count() or 1) // count) if count > 1 else None)
        if threads is not None and (cpus or "OMP_NUM_THREADS" not in os.environ):
            environment["OMP_NUM_THREADS"] = str(threads)
    return environments


def _send_message(stream: IO[bytes], content: bytes) -> None:
    stream.write(LENGTH.pack(len(content)) + content)


def _describe_exit(status: int) -> str:
    if status >= 0:
        return f"its process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = " (out of memory? see `dmesg`)" if -status == signal.SIGKILL else ""
    return f"its process was ended by {name}{hint}"


def _signal_groups(processes: list[subprocess.Popen[bytes]], signal_number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
            os.killpg(process.pid, signal_number)
