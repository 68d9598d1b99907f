"""Run a watchman: a process that ends the programs that this process started, once this process has ended.

SIGKILL, SIGTERM, SIGHUP and SIGQUIT end Python without time to end other processes. The watchman reads from a pipe
which process groups and single processes are running. When this process ends, the pipe closes, and the watchman kills
what still runs. It is a script that imports only the standard library.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

_lock = threading.Lock()
_pipe: IO[bytes] | None = None


def watch(group: int) -> None:
    """Add a process group to the watchman's list."""
    _send(f"+{-group}\n")


def forget_group(group: int) -> None:
    """Remove a process group from the watchman's list."""
    _send(f"-{-group}\n")


def watch_process(process: int) -> None:
    """Add a single process, which shares its group with others, to the watchman's list."""
    _send(f"+{process}\n")


def forget_process(process: int) -> None:
    """Remove a process from the watchman's list; call this after waiting for the process to end."""
    _send(f"-{process}\n")


def _send(line: str) -> None:
    """Write a line to the watchman; start it first if it is not running."""
    global _pipe
    with _lock:
        for _ in range(2):
            if _pipe is None:
                _pipe = _start_watchman()
            try:
                _pipe.write(line.encode())
                _pipe.flush()
                return
            except BrokenPipeError:
                with suppress(BrokenPipeError):
                    _pipe.close()
                _pipe = None


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
    watched_ids: set[int] = set()  # ids as for `kill`: a group is a negative number
    for line in sys.stdin.buffer:
        signed_pid = int(line[1:])
        (watched_ids.add if line[:1] == b"+" else watched_ids.discard)(signed_pid)
    for signed_pid in watched_ids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(signed_pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
