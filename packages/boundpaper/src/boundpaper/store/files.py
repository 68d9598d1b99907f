"""Hash files, and write them atomically."""

import atexit
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from boundpaper.errors import SpecError, ThesisError

ABSENT = ""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PART = ".part"
_DRAFT = re.compile(r"\.(\d{1,9})-(?:([0-9a-f]{6})-)?.*" + re.escape(PART))
_HOST = hashlib.blake2b(os.uname().nodename.encode(), digest_size=3).hexdigest()
_DAY = 86_400  # seconds after which a draft of another machine, whose processes are not seen here, is of a dead one


def digest(path: Path | str) -> str:
    """Return the content hash of a file as 32 hexadecimal digits, or `ABSENT` if there is no such file.

    Raises ThesisError when there is a folder, or a file that may not be read.
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

    The text goes to a temporary file in the same folder and is moved into place, so a reader (and a kill) sees the old
    file or the new one, never half of one. An equal file is left untouched, time stamp included. A new file has the
    permissions that the umask leaves, an old one keeps its own. `lasting` content is on the disk before it takes its
    place, so that the same holds after a loss of power: for what took hours to measure. Outputs of a build need no such
    wait: they are made again if their hash is not the recorded one. Raises ThesisError when the disk is full or the
    folder cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            raise ThesisError(f"{path}: is not a file; nothing is written there")
        if path.is_file() and path.read_bytes() == content:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        name = path.with_name(f".{os.getpid()}-{_HOST}-{secrets.token_hex(6)}{PART}")
        try:
            with open(name, "xb") as stream:
                stream.write(content)
                if lasting:
                    stream.flush()
                    os.fsync(stream.fileno())
            if mode is not None:
                os.chmod(name, mode)
            os.replace(name, path)
        except BaseException:
            name.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ThesisError(unwritable_message(path, error)) from error
    return True


def draft(path: Path) -> Path:
    """Return the path of a draft that a library writes before it becomes `path`; `sweep` removes it after a kill."""
    return path.with_name(f".{os.getpid()}-{_HOST}-{path.name}{PART}")


@contextmanager
def temporary(parent: Path | None = None) -> Iterator[Path]:
    """Make an empty folder in `parent`, or among the system's temporary ones, for the length of a block.

    Such folders that killed processes left there are removed first; other programs' folders never are.
    """
    parent = parent or Path(tempfile.gettempdir())
    for path in parent.iterdir():
        if path.is_dir() and is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    folder = parent / f".{os.getpid()}-{_HOST}-{secrets.token_hex(6)}{PART}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a draft folder that takes the place of `folder` when the block ends, so that it is complete or absent.

    Drafts of this folder that killed processes left are removed first. `folder` must not exist, or be empty. Raises
    SpecError when there is something in the folder, or it is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder}: is a file; name a folder that does not exist yet")
    beside = folder.absolute().parent
    found = (
        [path for path in beside.iterdir() if path.name.endswith(f"-{folder.name}{PART}")] if beside.is_dir() else []
    )
    for path in (*found, *(folder.iterdir() if folder.exists() else ())):
        if path.is_dir() and is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    if folder.exists() and any(folder.iterdir()):
        raise SpecError(f"{folder}: is not empty; name a folder that does not exist yet")
    # an empty folder may be where one stands
    made = draft(folder / folder.resolve().name if folder.exists() else folder)
    try:
        made.mkdir(parents=True)
        yield made
        if folder.exists():
            for entry in sorted(made.iterdir()):
                entry.rename(folder / entry.name)
            made.rmdir()
        else:
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@cache
def passing() -> Path:
    """Return a temporary folder that is removed with this process; every call returns the same one."""
    at_end = ExitStack()
    atexit.register(at_end.close)
    return at_end.enter_context(temporary())


def remove_drafts(folder: Path) -> list[Path]:
    """Remove drafts of killed processes below `folder`; return `folder`.

    On a file system that machines share, what another machine writes is left alone until it is a day old.
    """
    removed = []
    for place, _, names in os.walk(folder):
        for name in names:
            if is_abandoned(path := Path(place) / name):
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def is_abandoned(path: Path) -> bool:
    """Return whether a path is the draft of a file or folder whose writer no longer runs."""
    match = _DRAFT.fullmatch(path.name)
    if not match:
        return False
    if (match[2] or _HOST) == _HOST:
        return not _is_running(int(match[1]))
    try:
        return time.time() - path.stat().st_mtime > _DAY
    except FileNotFoundError:
        return False


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def unwritable_message(path: Path | str, error: OSError, kept: str = "nothing was half-written") -> str:
    """Message for a file that cannot be written; `kept` says what the failure leaves."""
    if error.errno == errno.EFBIG:
        return (
            f"{path}: larger than files may become here; raise the limit (`ulimit -f unlimited`) and run again ({kept})"
        )
    if error.errno in FULL:
        return f"{path}: the disk is full; free some space and run the command again ({kept})"
    return f"{path}: cannot be written ({error.strerror}); check the folder's permissions"


def no_room_message(error: OSError) -> str:
    """Message for lack of room that a library met; where it names no file, a cache or the output may be meant."""
    return unwritable_message(error.filename or "the output, or a cache or temporary file below out/", error)
