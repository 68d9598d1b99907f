"""Files that one run keeps for a later one, with a hash, so that any change in between is noticed.

A value lies in a file of its own as JSON, `{"hash": ..., "value": ...}`; a record that people read too, or that lies
among others, holds the hash of its other keys under the key `SEAL`.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boundpaper.store.files import write

SEAL = "blake2"
_BEGIN, _MIDDLE, _END = b'{"hash": "', b'", "value": ', b"}\n"
_HEXADECIMAL = 32  # digits of a hash


def pack_value(value: Any) -> bytes:
    """Content of a file that keeps a JSON value.

    Raises ValueError or TypeError when the value is none of JSON, as NaN is none.
    """
    text = json.dumps(value, allow_nan=False).encode()
    return _BEGIN + hash_bytes(text) + _MIDDLE + text + _END


def unpack_value(content: bytes) -> Any:
    """The value that `packed` kept.

    Raises ValueError when the content is not what was kept; RecursionError when it is nested too deeply.
    """
    start = len(_BEGIN) + _HEXADECIMAL
    text = content[start + len(_MIDDLE) : -len(_END)]
    if content != _BEGIN + hash_bytes(text) + _MIDDLE + text + _END:
        raise ValueError("not what was kept")
    return json.loads(text)


def keep_value(path: Path, value: Any) -> bool:
    """Write a value for a later run; return whether anything changed."""
    return write(path, pack_value(value))


def read_kept(path: Path) -> Any:
    """The value that `keep` wrote.

    Raises OSError when there is no such file; ValueError or RecursionError as `unpacked` does.
    """
    return unpack_value(path.read_bytes())


def hash_bytes(content: bytes) -> bytes:
    """The hash of bytes, 32 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=_HEXADECIMAL // 2).hexdigest().encode()


def with_hash(record: Mapping[str, Any]) -> dict[str, Any]:
    """Add to a record the hash of its content."""
    plain = {key: value for key, value in record.items() if key != SEAL}
    return {**plain, SEAL: hash_bytes(json.dumps(plain, sort_keys=True).encode()).decode()}


def broken(record: Mapping[str, Any]) -> str:
    """Fault of a record that `sealed` made and JSON stored; empty if it is unchanged."""
    if SEAL not in record:
        return f"has no hash `{SEAL}` of itself, as what is kept here has"
    return "" if with_hash(record)[SEAL] == record[SEAL] else "was changed since it was written, by its own hash"
