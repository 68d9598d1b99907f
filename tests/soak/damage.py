"""Seeded damage to a file of any format, and strict readers that detect invalid files."""

import ast
import csv
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from .fuzz import damaged

LEAVES: tuple[Any, ...] = (None, True, -1, 0, 1e308, 10**400, "", "nope", "0", [], {}, [[]], {"a": 1})
LEAVES += (float("nan"), "1.5", -0.5)
CELLS = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "0,5",
    "--",
    "1e-400",
    "\u2212",
    "\xbd",
    "9" * 400,
    "=1+1",
    "x",
    " ",
    "-1",
    "1_000",
    "0x1F",
    "$x$",
)
TOKEN = re.compile(r"\w+|[^\w\s]")
TABLES = (".csv", ".tsv")
JSON_LINES = (".jsonl",)
BINARY = (".safetensors", ".gguf", ".npz", ".parquet", ".png")


class DuplicateKey(ValueError):
    """An object of JSON or YAML has a key twice."""


def changed(path: Path, chance: random.Random) -> bytes:
    """Return a file's content with one seeded change of its bytes, or one that is specific to its format."""
    content = path.read_bytes()
    changes: list[Callable[[bytes, random.Random], bytes]] = [damaged]
    if path.suffix not in BINARY:
        changes += [_encoded, _with_odd_token, _with_odd_line]
    if path.suffix in TABLES:
        changes += [_with_odd_cell, _with_odd_cell, _with_odd_column, _with_odd_row]
    elif path.suffix == ".json":
        changes += [_with_odd_json, _with_odd_json, _with_doubled_key]
    elif path.suffix in JSON_LINES:
        changes += [_with_odd_json_line, _with_odd_json_line, _with_doubled_key]
    elif path.suffix in (".yaml", ".cff"):
        changes += [_with_odd_yaml, _with_odd_yaml]
    elif path.suffix == ".safetensors":
        changes += [_with_odd_header]
    return chance.choice(changes)(content, chance)


def _encoded(content: bytes, chance: random.Random) -> bytes:
    """Return a text in another encoding, with other line ends, followed by NULs, or empty."""
    text = content.decode()
    at = chance.randrange(len(text) + 1)
    odd = text[:at] + "\xe9" + text[at:]
    return chance.choice(
        (
            b"\xef\xbb\xbf" + content,
            text.encode("utf-16"),
            odd.encode("latin-1", "replace"),
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
            odd.replace("\xe9", "e\u0301").encode(),
            content + b"\x00" * 512,
            b"",
            b"\n",
        )
    )


def _with_odd_token(content: bytes, chance: random.Random) -> bytes:
    """Return a text in which one word or sign is removed, doubled, shortened, extended or replaced."""
    text = content.decode()
    matches = list(TOKEN.finditer(text))
    if not matches:
        return content + b"x"
    first, second = chance.choice(matches), chance.choice(matches)
    replacement = chance.choice(
        ("", first[0] * 2, f"{first[0]} {first[0]}", second[0], first[0][:-1], first[0] + "x", *CELLS[:6])
    )
    return (text[: first.start()] + replacement + text[first.end() :]).encode()


def _with_odd_line(content: bytes, chance: random.Random) -> bytes:
    """Return a text in which lines are swapped or removed, or a line is indented or loses its end."""
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content + content
    first, second = sorted(chance.sample(range(len(lines)), 2))
    match chance.randrange(4):
        case 0:
            lines[first], lines[second] = lines[second], lines[first]
        case 1:
            lines[first] = b"  " + lines[first]
        case 2:
            del lines[first : min(second, first + 8)]
        case _:
            lines[first] = lines[first].rstrip(b"\n")
    return b"".join(lines)


def _rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def _table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _with_odd_cell(content: bytes, chance: random.Random) -> bytes:
    rows = _rows(content)
    row = chance.choice(rows[1:] or rows)
    if row:
        row[chance.randrange(len(row))] = chance.choice(CELLS)
    return _table(rows)


def _with_odd_column(content: bytes, chance: random.Random) -> bytes:
    """Return a table with a removed, doubled, renamed or moved column, or with other separators."""
    rows = _rows(content)
    at = chance.randrange(len(rows[0]))
    match chance.randrange(6):
        case 0:
            return _table([row[:at] + row[at + 1 :] for row in rows])
        case 1:
            return _table([[*row, row[at]] if at < len(row) else row for row in rows])
        case 2:
            rows[0][at] = chance.choice(("", " " + rows[0][at], rows[0][at].upper(), "other", rows[0][0]))
            return _table(rows)
        case 3:
            return _table([[*row[1:], *row[:1]] for row in rows])
        case _:
            return _table(rows, chance.choice(";\t|"))


def _with_odd_row(content: bytes, chance: random.Random) -> bytes:
    """Return a table with one row added or replaced; the new row is a copy, short, long, empty, or the header."""
    rows = _rows(content)
    at = chance.randrange(len(rows))
    inserted: list[list[str]] = chance.choice(
        ([rows[at]], [rows[at][:-1]], [[*rows[at], "x"]], [[]], [rows[0]], [[""] * len(rows[0])])
    )
    return _table([*rows[:at], *inserted, *rows[at + chance.randrange(2) :]])


def _with_odd_json(content: bytes, chance: random.Random) -> bytes:
    return json.dumps(_with_odd_leaf(json.loads(content), chance), indent=1).encode()


def _with_odd_json_line(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines()
    at = chance.randrange(len(lines))
    lines[at] = json.dumps(_with_odd_leaf(json.loads(lines[at]), chance)).encode()
    return b"\n".join(lines) + b"\n"


def _with_doubled_key(content: bytes, chance: random.Random) -> bytes:
    """Return JSON in which an object has one key twice, with two values."""
    matches = list(re.finditer(rb'("\w+"): ?(true|false|null|-?[\d.]+|"\w*")', content))
    if not matches:
        return content
    first = chance.choice(matches)
    return content[: first.start()] + first[1] + b": 7, " + content[first.start() :]


def _with_odd_yaml(content: bytes, chance: random.Random) -> bytes:
    """Return YAML in which one value, at any depth, is replaced or removed."""
    return yaml.safe_dump(_with_odd_leaf(yaml.safe_load(content), chance), sort_keys=False, allow_unicode=True).encode()


def _with_odd_header(content: bytes, chance: random.Random) -> bytes:
    """Return a safetensors file with one value of its JSON header changed."""
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(_with_odd_leaf(json.loads(content[8 : 8 + size]), chance)).encode()
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


def _with_odd_leaf(data: Any, chance: random.Random) -> Any:
    """Return data in which one value, at any depth, is replaced, removed or doubled, or has another key."""
    nested = isinstance(data, (dict, list)) and len(data) > 0
    if not nested or chance.random() < 0.15:
        return chance.choice(LEAVES)
    keys = list(data) if isinstance(data, dict) else range(len(data))
    key = chance.choice(keys)
    draw = chance.random()
    if isinstance(data, dict):
        if draw < 0.1:
            return {k: v for k, v in data.items() if k != key}
        if draw < 0.2:
            return {(f"{k}x" if k == key else k): v for k, v in data.items()}
        return {**data, key: _with_odd_leaf(data[key], chance)}
    copy = list(data)
    if draw < 0.1:
        del copy[key]
    elif draw < 0.2:
        copy.append(copy[key])
    else:
        copy[key] = _with_odd_leaf(data[key], chance)
    return copy


def _unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise DuplicateKey("a key occurs twice")
    return dict(pairs)


class _Strict(yaml.SafeLoader):
    """A YAML reader that raises an error for a doubled key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        if len({str(key) for key in keys}) < len(keys):
            raise DuplicateKey("a key occurs twice")
        return super().construct_mapping(node, deep)


def broken(suffix: str, content: bytes) -> str:
    """Return why a strict reader of the format rejects content, or an empty string if the content is valid."""
    try:
        if suffix in BINARY:
            return _broken_bytes(suffix, content)
        text = content.decode("utf-8-sig")
        if "\0" in text:
            return "a NUL"
        if suffix == ".json":
            json.loads(text, object_pairs_hook=_unique_keys)
        elif suffix in JSON_LINES:
            for line in filter(str.strip, text.split("\n")):
                json.loads(line, object_pairs_hook=_unique_keys)
        elif suffix in (".yaml", ".cff"):
            yaml.load(text, _Strict)
        elif suffix in TABLES:
            return _broken_table(text)
        elif suffix == ".py":
            ast.parse(text)
    except (ValueError, yaml.YAMLError, csv.Error, SyntaxError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"[:120].replace("\n", " ")
    return ""


def _broken_table(text: str) -> str:
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    if not rows:
        return "no row"
    if len(set(rows[0])) < len(rows[0]):
        return "two columns of one name"
    lengths = {len(row) for row in rows}
    return f"rows of {sorted(lengths)} cells" if len(lengths) > 1 else ""


def _broken_bytes(suffix: str, content: bytes) -> str:
    if suffix == ".npz":
        try:
            return zipfile.ZipFile(io.BytesIO(content)).testzip() or ""
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            return str(error)
    if suffix == ".safetensors":
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size], object_pairs_hook=_unique_keys)
        ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        return "" if max(ends, default=0) == len(content) - 8 - size else "another length than its header says"
    if suffix == ".parquet":
        return "" if content[:4] == content[-4:] == b"PAR1" else "no magic number"
    if suffix == ".gguf":
        return "" if content[:4] == b"GGUF" else "no magic number"
    return ""
