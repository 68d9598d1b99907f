"""Cache values in files with a hash, so that a later run notices any change of the file.

A value is cached in a JSON file, `{"hash": ..., "value": ...}`. A record in a file that people read or that has several
records stores the hash of its other keys under the key `SEAL`.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boundpaper.store.files import write

SEAL = "blake2"
_BEGIN, _MIDDLE, _END = b'{"hash": "', b'", "value": ', b"}\n"
_HASH_DIGITS = 32


def pack_value(value: Any) -> bytes:
    """Return the content of a file that stores a JSON value.

    Raises ValueError or TypeError when JSON cannot represent the value, such as NaN.
    """
    text = json.dumps(value, allow_nan=False).encode()
    return _BEGIN + hash_bytes(text) + _MIDDLE + text + _END


def unpack_value(content: bytes) -> Any:
    """Return the value that `pack_value` stored.

    Raises ValueError when the content was changed; RecursionError when it is nested too deeply.
    """
    start = len(_BEGIN) + _HASH_DIGITS
    text = content[start + len(_MIDDLE) : -len(_END)]
    if content != _BEGIN + hash_bytes(text) + _MIDDLE + text + _END:
        raise ValueError("the content was changed")
    return json.loads(text)


def keep_value(path: Path, value: Any) -> bool:
    """Write a value for a later run; return whether the file changed."""
    return write(path, pack_value(value))


def read_kept(path: Path) -> Any:
    """Return the value that `keep_value` wrote.

    Raises OSError when there is no such file; ValueError or RecursionError as `unpack_value` does.
    """
    return unpack_value(path.read_bytes())


def hash_bytes(content: bytes) -> bytes:
    """Return the hash of bytes as 32 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=_HASH_DIGITS // 2).hexdigest().encode()


def with_hash(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the hash of its other entries under the key `SEAL`."""
    content = {key: value for key, value in record.items() if key != SEAL}
    return {**content, SEAL: hash_bytes(json.dumps(content, sort_keys=True).encode()).decode()}


def hash_fault(record: Mapping[str, Any]) -> str:
    """Return why a stored record differs from what `with_hash` returned; empty if it is unchanged."""
    if SEAL not in record:
        return f"has no hash of its content under the key `{SEAL}`"
    return "" if with_hash(record)[SEAL] == record[SEAL] else "was changed since it was written: its hash differs"
