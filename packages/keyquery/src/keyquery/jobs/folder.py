"""Manage a job's folder: call, log, result, progress, and a lock against concurrent runs."""

import fcntl
import json
import os
import pickle
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.files import write
from keyquery.jobs.seal import open_sealed, seal_content

TAIL_BYTES = 16_384


@dataclass(frozen=True)
class JobFolder:
    """The folder of one job; its name is the job's key, and it is created on the first write."""

    path: Path

    @property
    def log(self) -> Path:
        """Path of the log, which has the output of all attempts."""
        return self.path / "log.txt"

    @property
    def result(self) -> Path:
        """Path of the pickled return value, which exists if the job is finished."""
        return self.path / "result.pkl"

    @property
    def progress(self) -> Path:
        """Path of the file with the job's last progress report."""
        return self.path / "progress.txt"

    def describe(self, name: str, function: str, arguments: Mapping[str, Any], version: str) -> None:
        """Write the job's call to `job.json` in readable form, since the key is only a hash."""
        readable = {key: repr(value) for key, value in arguments.items()}
        content = {"name": name, "function": function, "arguments": readable, "version": version}
        write(self.path / "job.json", (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())

    def finished(self) -> bool:
        """Whether the job has a result."""
        return self.result.is_file()

    def save(self, value: Any) -> None:
        """Store the return value; from then on, the job counts as finished.

        Raises DataError when the value cannot be pickled, and ThesisError when the disk is full.
        """
        try:
            content = pickle.dumps(value)
        except Exception as error:  # a value's __reduce__ may raise anything
            raise DataError(f"the job returned a {type(value).__qualname__} that cannot be pickled: {error}") from error
        write(self.result, seal_content(content))

    def load(self) -> Any:
        """Return the result of a finished job.

        Raises DataError if the file cannot be read, for example because the code that wrote it has changed, or if
        another user wrote it, since unpickling could run that user's code.
        """
        try:
            return pickle.loads(open_sealed(self.result.read_bytes()))
        except Exception as error:  # a foreign or truncated pickle may raise nearly anything
            fault = f"cannot be read ({type(error).__name__}: {error})"
            raise DataError(f"{self.result}: {fault}; remove it to run the job again") from error

    def report(self) -> str:
        """Return the job's last progress report; empty if there is none."""
        try:
            return self.progress.read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def tail(self, lines: int = 10) -> str:
        """Return the last lines of the log; see `last_lines`."""
        return tail(self.log, lines)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the job, so that no two runs execute it at the same time."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / "lock", "a+", encoding="utf-8") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                stream.seek(0)
                print(f"waiting: {stream.read().strip() or 'another process'} is running the same job", flush=True)
                fcntl.flock(stream, fcntl.LOCK_EX)
            except OSError as error:  # some cluster file systems are mounted without locks
                print(f"no file locks ({error.strerror}): do not run this job twice at the same time", flush=True)
            stream.seek(0)
            stream.truncate()
            stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            stream.flush()
            yield

    def begin_log(self) -> int:
        """Open the log for a new attempt; return its file descriptor."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.progress.unlink(missing_ok=True)
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        os.write(descriptor, f"--- {now} on {socket.gethostname()}, process {os.getpid()}\n".encode())
        return descriptor


def tail(path: Path, lines: int) -> str:
    """Return the last `lines` lines of a text file, from its last 16 KiB; empty if the file is missing."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return last_lines(text, lines)


def last_lines(text: str, lines: int) -> str:
    """Return the last `lines` non-empty lines of a program's output.

    Of a line that carriage returns redraw, such as a progress bar, only the last version counts. If the interpreter
    crashed, return the first lines of the crash report instead: the cause and the innermost calls.
    """
    versions = (line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in text.split("\n"))
    visible = [line for line in versions if line]
    crashes = (index for index, line in enumerate(visible) if line.startswith("Fatal Python error:"))
    start = max(0, min(max(crashes, default=len(visible)), len(visible) - lines))
    return "\n".join(visible[start : start + lines])
