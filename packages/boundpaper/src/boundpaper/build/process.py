"""Run other programs, each in its own process group and with a time limit, and end them when this process ends.

On Ctrl-C this process ends the programs; on any other signal, SIGKILL included, the watchman process does. A running
program inherits the build lock, so that no other build starts before the program has ended.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from boundpaper.build import watchman
from boundpaper.build.tex import TEX_INSTALL
from boundpaper.errors import MissingDependency, ThesisError

TEX_PROGRAMS = frozenset(
    {"pdflatex", "latexmk", "bibtex", "kpsewhich", "pdftocairo", "pdftotext", "pdftoppm", "pdffonts", "pdfinfo"}
)
# A shell that starts a program once it reads a line, which is written when the watchman has the program's id. If this
# process ends earlier, the program never starts.
GATE = ("/bin/sh", "-c", 'read -r word && exec "$@" < /dev/null', "gate")
GRACE = 0.5  # seconds between SIGTERM and SIGKILL


class ProgramEnded(ThesisError):
    """A program was ended by `end_all` before it finished."""


@dataclass(frozen=True)
class CompletedProgram:
    """The exit status and the output of a program that has ended.

    A negative `returncode` is minus the number of the signal that ended the program; `output` has standard output and
    error, interleaved.
    """

    returncode: int
    output: str
    timed_out: bool = False


_lock = threading.Condition()
_running: set[subprocess.Popen[bytes]] = set()
_inherited: set[int] = set()  # descriptors of open files
_is_stopping = False


@contextmanager
def inherited(descriptor: int) -> Iterator[None]:
    """Let programs started in this block inherit an open file, so that its lock lasts until they have all ended."""
    _inherited.add(descriptor)
    try:
        yield
    finally:
        _inherited.discard(descriptor)


def missing(*programs: str) -> list[str]:
    """Return the programs among `programs` that are not on the PATH."""
    return [program for program in programs if shutil.which(program) is None]


def require(*programs: str) -> None:
    """Raise MissingDependency, which says how to install the absent programs, unless all programs are installed."""
    if absent := missing(*programs):
        names = ", ".join(absent)
        if TEX_PROGRAMS.issuperset(absent):
            raise MissingDependency(f"{names}: not installed; on Debian or Ubuntu, as root:\n{TEX_INSTALL}")
        raise MissingDependency(f"{names}: not found on the PATH; install it with the system's package manager")


def run(argv: Sequence[str], cwd: Path, timeout: float, env: Mapping[str, str] | None = None) -> CompletedProgram:
    """Run a program to its end, or to its time limit.

    `argv` is looked up on this process's PATH, without a shell; `env` is the whole environment, by default that of this
    process. After `timeout` seconds the program's process group gets SIGTERM, and half a second later SIGKILL. A
    failing exit status or a timeout is returned, not raised, since only the caller knows its meaning. Raises
    MissingDependency when the program is not installed, and ProgramEnded when `end_all` was called before the program
    finished.
    """
    # A file, not a pipe: a pipe that a grandchild keeps open would block the caller after the program has ended.
    with tempfile.TemporaryFile() as output:
        process = _start_program(argv, cwd, env, output)
        expired = threading.Event()
        # A timer and a blocking wait: Popen.wait(timeout) polls, which takes up to 50 ms per call.
        timer = threading.Timer(timeout, _end_at_limit, (process, expired))
        timer.daemon = True
        timer.start()
        try:
            returncode = _wait_for(process, argv[0])
        finally:
            timer.cancel()
        output.seek(0)
        text = output.read().decode("utf-8", errors="replace")
    return CompletedProgram(returncode, text, expired.is_set())


def run_shown(argv: Sequence[str], cwd: Path, log: IO[bytes] | None = None) -> int:
    """Run a program with its output shown here or written to an open file; return its exit status.

    Raises MissingDependency when the program is not installed, and ProgramEnded when `end_all` was called before the
    program finished.
    """
    return _wait_for(_start_program(argv, cwd, None, log), argv[0])


def _start_program(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None, output: IO[bytes] | None
) -> subprocess.Popen[bytes]:
    """Start a program in a new process group; the program waits until its group is on the watchman's list."""
    program = shutil.which(argv[0])
    if program is None:
        require(argv[0])
    with _lock:
        if _is_stopping:
            raise ProgramEnded(f"{argv[0]}: not started, because the build is stopping")
        process = subprocess.Popen(
            [*GATE, program or argv[0], *argv[1:]],
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(_inherited),
        )
        _running.add(process)
    watchman.watch(process.pid)
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(b"go\n")
    return process


def _wait_for(process: subprocess.Popen[bytes], name: str) -> int:
    """Wait for a program to end, and end it if this process is interrupted; return its exit status."""
    try:
        returncode = process.wait()
    except BaseException:
        _end_groups([process])
        process.wait()
        raise
    finally:
        _signal_group(process, signal.SIGKILL)  # end the remaining processes of its group
        watchman.forget_group(process.pid)
        with _lock:
            _running.discard(process)
            is_ended = _is_stopping
            _lock.notify_all()
    if is_ended:
        raise ProgramEnded(f"{name}: ended before it finished")
    return returncode


def end_all() -> None:
    """End every program that `run` has started and start no more, until `start_again`.

    Call this in the main thread on Ctrl-C: the threads that wait in `run` then raise `ProgramEnded`.
    """
    global _is_stopping
    with _lock:
        _is_stopping = True
        processes = list(_running)
    _end_groups(processes)
    with _lock:
        _lock.wait_for(lambda: not _running, timeout=GRACE)


def start_again() -> None:
    """Allow programs to start again after `end_all`; for watch mode and tests."""
    global _is_stopping
    with _lock:
        _is_stopping = False


def _end_at_limit(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    if process in _running:
        expired.set()
        _end_groups([process])


def _end_groups(processes: list[subprocess.Popen[bytes]]) -> None:
    """Send SIGTERM to each process group, and after `GRACE` seconds SIGKILL to groups whose leader still runs."""
    for process in processes:
        _signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    for process in processes:
        while _is_running(process) and time.monotonic() < deadline:
            time.sleep(0.02)
        if _is_running(process):
            _signal_group(process, signal.SIGKILL)


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    if process.returncode is not None:
        return False
    # WNOWAIT leaves the zombie to the thread that waits for it.
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None
    except ChildProcessError:
        return False


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
        os.killpg(process.pid, number)
