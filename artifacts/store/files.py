"""Files: hashing and atomic writing."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

from artifacts.errors import ThesisError

ABSENT = ""
PART = ".part"
_DRAFT = re.compile(r"\.(\d{1,9})-.*" + re.escape(PART))


def digest(path: Path | str) -> str:
    """Content hash of a file as 32 hexadecimal digits, or `ABSENT` when there is no such file.

    Raises
    ------
    ThesisError
        There is a folder, or a file that may not be read.
    """
    try:
        with open(path, "rb", buffering=0) as stream:
            return hashlib.blake2b(stream.read(), digest_size=16).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        raise ThesisError(f"{path}: cannot be read as a file ({error.strerror})") from None


def write(path: Path, content: bytes, *, lasting: bool = False) -> bool:
    """Put `content` at `path` atomically; return whether anything changed.

    The text goes to a temporary file in the same folder and is moved into place, so a reader (and a kill)
    sees the old file or the new one, never half of one. An equal file is left untouched, time stamp included. What is
    `lasting` is on the disk before it takes its place, so that the same holds of a loss of power: for what took hours
    to measure. What a build makes is made again when its hash is not the recorded one, and does without the wait.

    Raises
    ------
    ThesisError
        When the disk is full or the folder cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            raise ThesisError(f"{path}: is no file; nothing is written there")
        if path.is_file() and path.read_bytes() == content:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{os.getpid()}-", suffix=PART)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                if lasting:
                    stream.flush()
                    os.fsync(stream.fileno())
            os.chmod(name, mode)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ThesisError(unwritable(path, error)) from error
    return True


def draft(path: Path) -> Path:
    """Where what becomes `path` is written first, by a library of its own; `sweep` removes it after a kill."""
    return path.with_name(f".{os.getpid()}-{path.name}{PART}")


def sweep(folder: Path) -> list[Path]:
    """Remove what killed processes were writing below `folder`; return it."""
    removed = []
    for place, _, names in os.walk(folder):
        for name in names:
            match = _DRAFT.fullmatch(name)
            if match and not _runs(int(match[1])):
                (Path(place) / name).unlink(missing_ok=True)
                removed.append(Path(place) / name)
    return removed


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def unwritable(path: Path, error: OSError) -> str:
    """What to say of a file that cannot be written."""
    if error.errno == errno.EFBIG:
        return f"{path}: larger than files may become here (ulimit -f); raise the limit (nothing was half-written)"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{path}: the disk is full; free some space and run the command again (nothing was half-written)"
    return f"{path}: cannot be written ({error.strerror}); check the folder's permissions"
