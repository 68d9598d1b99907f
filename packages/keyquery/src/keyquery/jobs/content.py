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

DIGITS = 20  # hexadecimal digits (80 bits): short names for folders, yet no collisions


def key(function: Callable[..., Any], arguments: Mapping[str, Any], version: str = "") -> str:
    """Return a hash of what determines a job's output; equal content has an equal key on any machine.

    The dotted name of `function` is hashed, not its code. `arguments` may hold numbers, text, bytes, None, paths (as
    written; the file is not read), enums, arrays, functions of modules, and dataclasses, sequences, mappings and sets
    of these. `version` is text for anything else that the output depends on, such as a fingerprint of a file that an
    argument names.
    The key has 20 hexadecimal digits. Raises SpecError when the function cannot be imported by name, or an argument has
    no content to hash.
    """
    state: list[bytes] = []
    _add_text(state, "job", dotted_name(function))
    _add_text(state, "version", version)
    for name in sorted(arguments):
        _add_text(state, "argument", name)
        _add_value(state, arguments[name], name)
    return hashlib.blake2b(b"".join(state), digest_size=DIGITS // 2).hexdigest()


def dotted_name(function: Callable[..., Any]) -> str:
    """Return the dotted name by which another process imports a function or class.

    Raises SpecError if it has none: a lambda, a nested function, or a function of the main script.
    """
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if not module or not name:
        raise SpecError(f"{function!r} cannot be imported by another process: give a function at the top of a module")
    if "<" in name or module == "__main__":
        raise SpecError(f"{module}.{name} cannot be imported by another process: move it to the top of a module")
    return f"{module}.{name}"


def _add_value(state: list[bytes], value: Any, where: str) -> None:
    """Append the type and the content of a value; errors name the value by `where`."""
    match value:
        case enum.Enum():  # must precede the test for numbers: an IntEnum is an int
            _add_text(state, "enum", f"{dotted_name(type(value))}.{value.name}")
        case None | bool():
            _add_text(state, "constant", str(value))
        case int():
            _add_text(state, "int", str(int(value)))
        case float():
            _add_text(state, "float", float(value).hex())
        case str():
            _add_text(state, "str", value)
        case bytes():
            _add_bytes(state, "bytes", value)
        case os.PathLike():
            _add_text(state, "path", os.fsdecode(value))
        case list() | tuple():
            # equal, since JSON turns tuples into lists and no job distinguishes them
            _add_text(state, "sequence", str(len(value)))
            for index, member in enumerate(value):
                _add_value(state, member, f"{where}[{index}]")
        case Mapping():
            _add_unordered(
                state, "mapping", [[(name, where), (member, f"{where}[{name!r}]")] for name, member in value.items()]
            )
        case AbstractSet():
            _add_unordered(state, "set", [[(member, where)] for member in value])
        case functools.partial():
            _add_text(state, "partial", dotted_name(value.func))
            _add_value(state, value.args, where)
            _add_value(state, value.keywords, where)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            _add_text(state, "dataclass", dotted_name(type(value)))
            for field in dataclasses.fields(value):
                _add_text(state, "field", field.name)
                _add_value(state, getattr(value, field.name), f"{where}.{field.name}")
        case _ if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
            _add_text(state, "callable", dotted_name(value))
        case _:
            _add_array(state, value, where)


def _add_array(state: list[bytes], value: Any, where: str) -> None:
    numpy = sys.modules.get("numpy")  # if there is an array, numpy is imported already
    if numpy is not None and isinstance(value, numpy.generic):
        _add_value(state, value.item(), where)
    elif numpy is not None and isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
        _add_text(state, "array", f"{value.dtype.str} {value.shape}")
        _add_bytes(state, "data", value.tobytes())
    else:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise SpecError(
            f"the job's argument {where} is a {kind}, which cannot be hashed: give plain values, arrays, "
            "dataclasses of these, or the path of a file"
        )


def _add_unordered(state: list[bytes], kind: str, members: list[list[tuple[Any, str]]]) -> None:
    """Append members in an order that depends on their content only; each has one or two values with their names."""
    _add_text(state, kind, str(len(members)))
    encoded = []
    for member in members:
        member_state: list[bytes] = []
        for value, where in member:
            _add_value(member_state, value, where)
        encoded.append(b"".join(member_state))
    state.extend(sorted(encoded))


def _add_text(state: list[bytes], kind: str, text: str) -> None:
    _add_bytes(state, kind, text.encode("utf-8", errors="surrogateescape"))


def _add_bytes(state: list[bytes], kind: str, content: bytes) -> None:
    # the length distinguishes ("ab", "c") from ("a", "bc")
    state.append(f"{kind} {len(content)}:".encode() + content)
