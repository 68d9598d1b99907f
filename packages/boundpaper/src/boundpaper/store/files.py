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

Stamp = tuple[int, int, int, int]
ABSENT = ""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PART = ".part"
_DRAFT = re.compile(r"\.(\d{1,9})-(?:([0-9a-f]{6})-)?.*" + re.escape(PART))
_HOST = hashlib.blake2b(os.uname().nodename.encode(), digest_size=3).hexdigest()
_DAY = 86_400  # seconds after which a draft of another machine, whose processes cannot be seen, counts as abandoned


def digest(path: Path | str) -> str:
    """Return the content hash of a file as 32 hexadecimal digits, or `ABSENT` if there is no such file.

    Raises ThesisError for a folder or an unreadable file.
    """
    try:
        with open(path, "rb", buffering=0) as stream:
            return hashlib.blake2b(stream.read(), digest_size=16).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        raise ThesisError(f"{path}: cannot be read as a file ({error.strerror})") from None


def status_stamp(path: Path | str) -> Stamp | None:
    """Return the times of change in ns, the size and the inode of a file or folder; None if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # ValueError: a path with a NUL character
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def stamp_of(path: Path) -> tuple[int, int]:
    """Return the time of a file's last change and its size; while both stay the same, a cache of the file is valid."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def write(path: Path, content: bytes, *, lasting: bool = False) -> bool:
    """Write `content` to `path` atomically; return whether the file changed.

    The content is written to a temporary file in the same folder and then moved, so that readers see the old or the new
    file even after a kill, never a partial file. If the content is equal, the file and its time stamp stay. A new file
    has the permissions of the umask; an existing file keeps its permissions. With `lasting`, the content is synced to
    disk before the move, so that measurements that took hours also survive a power failure. Outputs of a build do not
    need this, since a changed hash triggers a rebuild. Raises ThesisError when the disk is full or the folder cannot
    be written.
    """
    try:
        if path.exists() and not path.is_file():
            raise ThesisError(f"{path}: not a file, so it cannot be written; remove it")
        if path.is_file() and path.read_bytes() == content:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        temporary_path = path.with_name(f".{os.getpid()}-{_HOST}-{secrets.token_hex(6)}{PART}")
        try:
            with open(temporary_path, "xb") as stream:
                stream.write(content)
                if lasting:
                    stream.flush()
                    os.fsync(stream.fileno())
            if mode is not None:
                os.chmod(temporary_path, mode)
            os.replace(temporary_path, path)
        except BaseException:
            temporary_path.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ThesisError(unwritable_message(path, error)) from error
    return True


def draft(path: Path) -> Path:
    """Return the path of a draft, which the caller writes and then renames to `path`."""
    return path.with_name(f".{os.getpid()}-{_HOST}-{path.name}{PART}")


@contextmanager
def temporary(parent: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder that is removed after the block; `parent` is by default the system's temporary folder.

    Folders that killed processes left in `parent` are removed first, but never folders of other programs.
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
    """Yield a draft folder that becomes `folder` when the block ends, so that `folder` is complete or absent.

    Drafts of this folder left by killed processes are removed first. Raises SpecError when `folder` is a file or a
    folder that is not empty.
    """
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder}: is a file; name a folder that does not exist yet")
    parent = folder.absolute().parent
    old_drafts = (
        [path for path in parent.iterdir() if path.name.endswith(f"-{folder.name}{PART}")] if parent.is_dir() else []
    )
    for path in (*old_drafts, *(folder.iterdir() if folder.exists() else ())):
        if path.is_dir() and is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
    if folder.exists() and any(folder.iterdir()):
        raise SpecError(f"{folder}: is not empty; name a folder that does not exist yet")
    # an existing empty folder is filled, not replaced: it may be the working directory
    new_draft = draft(folder / folder.resolve().name if folder.exists() else folder)
    try:
        new_draft.mkdir(parents=True)
        yield new_draft
        if folder.exists():
            for path in sorted(new_draft.iterdir()):
                path.rename(folder / path.name)
            new_draft.rmdir()
        else:
            new_draft.rename(folder)
    finally:
        shutil.rmtree(new_draft, ignore_errors=True)


@cache
def process_folder() -> Path:
    """Return a temporary folder that is removed with this process; every call returns the same one."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary())


def remove_drafts(folder: Path) -> list[Path]:
    """Remove drafts left by killed processes below `folder`; return the removed paths.

    On a shared file system, drafts of other machines are kept until they are a day old.
    """
    removed = []
    for directory, _, names in os.walk(folder):
        for name in names:
            if is_abandoned(path := Path(directory) / name):
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def is_abandoned(path: Path) -> bool:
    """Return whether a path is a draft that a process left behind when it ended."""
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


def unwritable_message(path: Path | str, error: OSError, state: str = "no file is incomplete") -> str:
    """Return the message for a file that cannot be written; `state` says in what state the failure leaves the files."""
    if error.errno == errno.EFBIG:
        return (
            f"{path}: larger than a file may be here; raise the limit (`ulimit -f unlimited`) and run again ({state})"
        )
    if error.errno in FULL:
        return f"{path}: the disk is full; free some space and run the command again ({state})"
    return f"{path}: cannot be written ({error.strerror}); check the folder's permissions"


def no_room_message(error: OSError) -> str:
    """Return the message for a full disk; the message names the output and caches if the error names no file."""
    return unwritable_message(error.filename or "the output, or a cache or temporary file below out/", error)
