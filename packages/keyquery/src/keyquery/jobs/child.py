"""Run a local job: read a call from standard input, execute it, and write the outcome to an already open file.

Only the standard library is imported first, since the parent's module path arrives with the call. Standard input
stays open while the parent lives; the job ends when it closes, so no job outlives a killed command.
"""

import os
import pickle
import signal
import struct
import sys
import threading
import traceback
from typing import Any

LENGTH = struct.Struct("!Q")


def main() -> None:
    """Execute the call from standard input; exit with 0 once the outcome (a value or an error) is written."""
    source = os.fdopen(os.dup(0), "rb")
    silent = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silent, 0)  # a job that reads standard input gets end-of-file instead of blocking
    os.close(silent)
    outcome, sys.path[:] = pickle.loads(_read_part(source))
    call = _read_part(source)
    threading.Thread(target=_watch_parent, args=(source,), daemon=True).start()
    try:
        function, arguments, keywords = pickle.loads(call)
        answer = pickle.dumps((True, function(*arguments, **keywords)))
    except Exception as error:
        traceback.print_exc()
        answer = _pickle_error(error)
    with os.fdopen(outcome, "wb") as stream:
        stream.write(answer)


def _read_part(source: Any) -> bytes:
    size = LENGTH.unpack(source.read(LENGTH.size))[0]
    content: bytes = source.read(size)
    return content


def _pickle_error(error: Exception) -> bytes:
    """Return the exception pickled, or its text if it does not survive pickling."""
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)
        return answer
    except Exception:
        return pickle.dumps((False, f"{type(error).__name__}: {error}"))


def _watch_parent(source: Any) -> None:
    """End this job and all processes that it started as soon as the parent is gone."""
    source.read()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
