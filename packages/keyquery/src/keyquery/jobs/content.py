"""Compute the key of a job: a hash of its function's name and of the content of its arguments."""

import dataclasses
import enum
import functools
import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from boundpaper.errors import SpecError

DIGITS = 20  # hexadecimal digits (80 bits), short enough for folder names and long enough to avoid collisions


def key(function: Callable[..., Any], arguments: Mapping[str, Any], version: str = "") -> str:
    """Return a hash of what determines a job's output, as 20 hexadecimal digits, equal on any machine.

    The dotted name of `function` is hashed, not its code. `arguments` may hold numbers, text, bytes, None, paths (as
    written; the file is not read), enums, arrays, functions of modules, and dataclasses, sequences, mappings and sets
    of these. `version` is text for anything else that the output depends on, such as a fingerprint of a file that an
    argument names. Raises SpecError when the function cannot be imported by name, or an argument has no content to
    hash.
    """
    chunks: list[bytes] = []
    _add_text(chunks, "job", dotted_name(function))
    _add_text(chunks, "version", version)
    for name in sorted(arguments):
        _add_text(chunks, "argument", name)
        _add_value(chunks, arguments[name], name)
    return hashlib.blake2b(b"".join(chunks), digest_size=DIGITS // 2).hexdigest()


def dotted_name(function: Callable[..., Any]) -> str:
    """Return the dotted name by which another process can import a function or class.

    Raises SpecError if there is no such name: for a lambda, a nested function, or a function of the main script.
    """
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if not module or not name:
        raise SpecError(f"{function!r} cannot be imported by another process: define it at the top level of a module")
    if "<" in name or module == "__main__":
        raise SpecError(
            f"{module}.{name} cannot be imported by another process: define it at the top level of an importable module"
        )
    return f"{module}.{name}"


def _add_value(chunks: list[bytes], value: Any, label: str) -> None:
    """Append the type and the content of `value` to `chunks`; errors name the value by `label`."""
    match value:
        case enum.Enum():  # must precede the test for numbers: an IntEnum is an int
            _add_text(chunks, "enum", f"{dotted_name(type(value))}.{value.name}")
        case None | bool():
            _add_text(chunks, "constant", str(value))
        case int():
            _add_text(chunks, "int", str(int(value)))
        case float():
            _add_text(chunks, "float", float(value).hex())
        case str():
            _add_text(chunks, "str", value)
        case bytes():
            _add_bytes(chunks, "bytes", value)
        case os.PathLike():
            _add_text(chunks, "path", os.fsdecode(value))
        case list() | tuple():
            # a list and a tuple of the same members are hashed alike, since JSON turns tuples into lists
            _add_text(chunks, "sequence", str(len(value)))
            for index, member in enumerate(value):
                _add_value(chunks, member, f"{label}[{index}]")
        case Mapping():
            pairs = [[(name, label), (member, f"{label}[{name!r}]")] for name, member in value.items()]
            _add_unordered(chunks, "mapping", pairs)
        case AbstractSet():
            _add_unordered(chunks, "set", [[(member, label)] for member in value])
        case functools.partial():
            _add_text(chunks, "partial", dotted_name(value.func))
            _add_value(chunks, value.args, label)
            _add_value(chunks, value.keywords, label)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            _add_text(chunks, "dataclass", dotted_name(type(value)))
            for field in dataclasses.fields(value):
                _add_text(chunks, "field", field.name)
                _add_value(chunks, getattr(value, field.name), f"{label}.{field.name}")
        case _ if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
            _add_text(chunks, "callable", dotted_name(value))
        case _:
            _add_array(chunks, value, label)


def _add_array(chunks: list[bytes], value: Any, label: str) -> None:
    numpy = sys.modules.get("numpy")  # if there is an array, numpy is imported already
    if numpy is not None and isinstance(value, numpy.generic):
        _add_value(chunks, value.item(), label)
    elif numpy is not None and isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
        _add_text(chunks, "array", f"{value.dtype.str} {value.shape}")
        _add_bytes(chunks, "data", value.tobytes())
    else:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise SpecError(
            f"the job's argument {label} is a {kind}, which cannot be hashed: give plain values, arrays, "
            "dataclasses of these, or the path of a file"
        )


def _add_unordered(chunks: list[bytes], kind: str, members: list[list[tuple[Any, str]]]) -> None:
    """Append a collection's members (one or two labelled values each) in an order that depends only on content."""
    _add_text(chunks, kind, str(len(members)))
    encoded = []
    for member in members:
        member_chunks: list[bytes] = []
        for value, label in member:
            _add_value(member_chunks, value, label)
        encoded.append(b"".join(member_chunks))
    chunks.extend(sorted(encoded))


def _add_text(chunks: list[bytes], kind: str, text: str) -> None:
    _add_bytes(chunks, kind, text.encode("utf-8", errors="surrogateescape"))


def _add_bytes(chunks: list[bytes], kind: str, content: bytes) -> None:
    # the length distinguishes ("ab", "c") from ("a", "bc")
    chunks.append(f"{kind} {len(content)}:".encode() + content)
