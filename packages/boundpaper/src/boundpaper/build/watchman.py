"""Run a watchman: a process that briefly outlives this one, to end the programs that this one started.

A signal that Python does not see (SIGKILL), or that ends it at once (SIGTERM, SIGHUP, SIGQUIT), leaves no time to end
anything. The watchman reads from a pipe the process groups and single processes that run; the pipe ends when its writer
does, however it ends, and those on the list are killed. It runs by itself as a script and imports the standard library
only.
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
    """Put a process group on the list."""
    _tell_watchman(f"+{-group}\n")


def forget_group(group: int) -> None:
    """Take a process group off the list."""
    _tell_watchman(f"-{-group}\n")


def watch_process(process: int) -> None:
    """Put a process that shares its group with others on the list."""
    _tell_watchman(f"+{process}\n")


def forget_process(process: int) -> None:
    """Take a process off the list, once it has been waited for."""
    _tell_watchman(f"-{process}\n")


def _tell_watchman(word: str) -> None:
    """Write to the watchman, starting it first if it does not run or was killed."""
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
    process.returncode = 0  # nobody waits for him: he leaves after us
    assert process.stdin is not None
    return process.stdin


def main() -> None:
    """Keep the list until the pipe closes, then kill what is on the list."""
    watched: set[int] = set()  # as `kill` takes them: a group is a negative number
    for line in sys.stdin.buffer:
        signed_pid = int(line[1:])
        (watched.add if line[:1] == b"+" else watched.discard)(signed_pid)
    for signed_pid in watched:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(signed_pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
