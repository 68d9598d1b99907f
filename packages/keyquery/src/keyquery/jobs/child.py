"""Run a local job: read a call from standard input, execute it, and write the outcome to an open file descriptor.

This module imports only the standard library, since the parent's module path arrives with the call. The parent keeps
the job's standard input open; the job ends when that input closes, so no job outlives a killed command.
"""

import os
import pickle
import signal
import struct
import sys
import threading
import traceback
from typing import Any

LENGTH = struct.Struct("!Q")  # format of the number of bytes that precedes every message


def main() -> None:
    """Execute the call from standard input; exit with 0 once the outcome (a value or an error) is written."""
    source = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # a job that reads standard input gets end-of-file instead of blocking
    os.close(null)
    descriptor, sys.path[:] = pickle.loads(_read_message(source))
    call = _read_message(source)
    threading.Thread(target=_watch_parent, args=(source,), daemon=True).start()
    try:
        function, arguments, keywords = pickle.loads(call)
        outcome = pickle.dumps((True, function(*arguments, **keywords)))
    except Exception as error:
        traceback.print_exc()
        outcome = _pickle_error(error)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(outcome)


def _read_message(source: Any) -> bytes:
    size = LENGTH.unpack(source.read(LENGTH.size))[0]
    content: bytes = source.read(size)
    return content


def _pickle_error(error: Exception) -> bytes:
    """Return the pickled outcome of a failed call: the exception, or its text if the exception cannot be pickled."""
    try:
        outcome = pickle.dumps((False, error))
        pickle.loads(outcome)
        return outcome
    except Exception:
        return pickle.dumps((False, f"{type(error).__name__}: {error}"))


def _watch_parent(source: Any) -> None:
    """End this job, and all processes that it started, when the parent ends."""
    source.read()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
