"""Run a watchman: a process that briefly outlives this process, to end the programs that it started.

SIGKILL, SIGTERM, SIGHUP and SIGQUIT end Python without time to end other processes. The watchman reads from a pipe a
list of the running process groups and single processes; when the writer ends, the pipe closes, and the watchman kills
the processes on the list. It is a script that imports only the standard library.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

_lock = threading.Lock()
_line: IO[bytes] | None = None


def watch(group: int) -> None:
    """Add a process group to the watchman's list."""
    _tell_watchman(f"+{-group}\n")


def forget_group(group: int) -> None:
    """Remove a process group from the watchman's list."""
    _tell_watchman(f"-{-group}\n")


def watch_process(process: int) -> None:
    """Add a single process, which shares its group with others, to the watchman's list."""
    _tell_watchman(f"+{process}\n")


def forget_process(process: int) -> None:
    """Remove a process from the watchman's list, after waiting for it."""
    _tell_watchman(f"-{process}\n")


def _tell_watchman(word: str) -> None:
    """Write to the watchman; start it first if it is not running."""
    global _line
    with _lock:
        for _ in range(2):
            if _line is None:
                _line = _start_watchman()
            try:
                _line.write(word.encode())
                _line.flush()
                return
            except BrokenPipeError:
                with suppress(BrokenPipeError):
                    _line.close()
                _line = None


def _start_watchman() -> IO[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    process.returncode = 0  # nobody waits for the watchman: it ends after this process
    assert process.stdin is not None
    return process.stdin


def main() -> None:
    """Maintain the list until the pipe closes, then kill every process on it."""
    watched: set[int] = set()  # ids as for `kill`: a group is a negative number
    for line in sys.stdin.buffer:
        signed_pid = int(line[1:])
        (watched.add if line[:1] == b"+" else watched.discard)(signed_pid)
    for signed_pid in watched:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(signed_pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
