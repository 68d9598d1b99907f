"""Sign results of jobs with the user's key, since unpickling a result of another user could run arbitrary code."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from boundpaper.errors import DataError, ThesisError

LENGTH = hashlib.blake2b().digest_size  # bytes of a signature, and of the key


def seal_content(content: bytes) -> bytes:
    """Return the user's signature followed by the content.

    Raises ThesisError when the user's key can be neither read nor made.
    """
    return _signature(content) + content


def open_sealed(signed: bytes) -> bytes:
    """Return the content that `seal_content` signed for this user.

    Raises DataError if the signature is missing or another user's, or the content was changed.
    """
    signature, content = signed[:LENGTH], signed[LENGTH:]
    if not hmac.compare_digest(signature, _signature(content)):
        raise DataError("not written by this user, or damaged")
    return content


def key_path() -> Path:
    """Return the path of the user's key, which lies outside of projects and captures, since others may read these."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local/state") / "long-context-thesis/key"


def _signature(content: bytes) -> bytes:
    return hmac.new(_user_key(), content, "blake2b").digest()


def _user_key() -> bytes:
    """Return the user's key, created on first use; processes that create it at the same time agree on one key."""
    path = key_path()
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".key.{os.getpid()}.{secrets.token_hex(4)}")
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(secrets.token_bytes(LENGTH))
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        key = path.read_bytes()
    except OSError as error:
        raise ThesisError(
            f"{path}: the key for job results cannot be read or created ({error.strerror}); make its folder writable"
        ) from None
    if len(key) != LENGTH:
        raise ThesisError(f"{path}: not a key for job results; remove it")
    return key
