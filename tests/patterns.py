"""Collect all regular expressions in the project's code, and make texts that may be slow to match.

A pattern that is a literal is read from the source; a pattern built from names of its module is evaluated there.
For a pattern built inside a function, the caller must list samples.
"""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = frozenset(("compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"))
SERIES_METHODS = FUNCTIONS - {"compile"} | {"extract", "extractall", "contains", "replace", "count"}
FOLDERS = ("analysis", "figures", "packages", "tables")
_parser = importlib.import_module("re._parser")


@dataclass(frozen=True)
class Pattern:
    """A pattern, its location in the code, and the method that matches it."""

    file: str
    line: int
    use: str
    text: str
    flags: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@cache
def calls(file: str) -> list[tuple[ast.Call, str]]:
    """Return a pair for each call in a file that takes a pattern: the call, and the name of the called method."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return list(_calls(ast.parse(text))) if re.search(r"\b(?:re|str)\s*\.", text) else []


def _calls(parsed: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(parsed):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner, name = node.func.value, node.func.attr
        if isinstance(owner, ast.Name) and owner.id == "re" and name in FUNCTIONS:
            yield node, name
        if isinstance(owner, ast.Attribute) and owner.attr == "str" and name in SERIES_METHODS and node.args:
            yield node, f"str.{name}"


def collected(made: Mapping[str, Iterable[str]]) -> tuple[list[Pattern], list[str]]:
    """Return all patterns of the code folders, and keys of those that cannot be evaluated and are not in `made`.

    `made` lists samples of patterns built inside functions, by file and source text.
    """
    patterns: list[Pattern] = []
    unknown: list[str] = []
    code = (path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    files = (path.as_posix() for path in code if "tests" not in path.parts)
    for file in sorted(files):
        for node, use in calls(file):
            written = ast.unparse(node.args[0])
            key = f"{file}: {written}"
            if key in made:
                use = _use_of(file, node) if use == "compile" else use
                patterns += [Pattern(file, node.lineno, use, text) for text in made[key]]
                continue
            try:
                text = ast.literal_eval(node.args[0])
                flags = _flags(node)
            except ValueError:
                try:
                    text, flags = _evaluated(file, node.args[0]), _flags(node)
                except NameError:
                    unknown.append(key)
                    continue
            use = _use_of(file, node) if use == "compile" else use
            patterns.append(Pattern(file, node.lineno, use, text, flags))
    return patterns, unknown


def _use_of(file: str, node: ast.Call) -> str:
    """Return `match` or `fullmatch` if a compiled pattern is only used at the beginning of texts, else `finditer`."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if at_once := re.match(
        r"\.(match|fullmatch)\(", text.splitlines()[(node.end_lineno or 1) - 1].encode()[node.end_col_offset :].decode()
    ):
        return at_once[1]
    named = re.match(r"\s*(\w+)\s*=", text.splitlines()[node.lineno - 1])
    uses = set(re.findall(rf"\b{named[1]}\.(\w+)", text)) if named else set()
    return "match" if uses and uses <= {"match", "fullmatch", "pattern"} else "finditer"


def _evaluated(file: str, node: ast.expr) -> str:
    dotted = re.sub(r"^packages/\w+/src/", "", file).removesuffix(".py").replace("/", ".")
    module = importlib.import_module(dotted)
    text: str = eval(compile(ast.Expression(node), file, "eval"), dict(vars(module)))
    return text


def _flags(node: ast.Call) -> int:
    flags = [word.value for word in node.keywords if word.arg == "flags"]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "compile":
        flags += node.args[1:2]
    return int(eval(ast.unparse(flags[0]), {"re": re})) if flags else 0


def attacks(pattern: Pattern) -> list[tuple[str, str]]:
    """Return pairs of a prefix and a text; the pattern may be slow on the prefix followed by many copies of the text.

    Without a prefix, characters of the pattern's alphabet, pairs of them, matching texts and their beginnings are
    repeated; after each beginning, single characters are repeated.
    """
    parsed = _parser.parse(pattern.text, pattern.flags)
    samples = list(dict.fromkeys([_sample(parsed, 1), _sample(parsed, 2), _sample(parsed, 1, last=True)]))
    signs = list(dict.fromkeys([*_alphabet(parsed), *"a1 .\n\\"]))[:12]
    beginnings = list(dict.fromkeys(sample[:end] for sample in samples for end in range(len(sample) + 1)))
    if len(beginnings) > 12:
        beginnings = beginnings[:: len(beginnings) // 12 + 1]
    pairs = [("", part) for part in (*signs, *samples, *beginnings) if part]
    pairs += [("", a + b) for a in signs[:6] for b in signs[:6] if a != b]
    pairs += [(start, sign) for start in beginnings for sign in signs[:8] if start]
    return list(dict.fromkeys(pairs))


def _alphabet(parsed: Any) -> Iterator[str]:
    for kind, value in parsed:
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL"):
            yield chr(value) if name == "LITERAL" else ("b" if value != ord("b") else "c")
        elif name == "IN":
            yield _class_sample(value)
            for item, argument in value:
                if str(item) == "LITERAL":
                    yield chr(argument)
        for subpattern in _subpatterns(value):
            yield from _alphabet(subpattern)


def _subpatterns(value: Any) -> Iterator[Any]:
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for element in value:
            yield from _subpatterns(element)


_CANDIDATES = "a1 b,.-(B)\n{}[]<>'\"$%\\_:/=~*⁻−–é"


def _class_sample(items: Any) -> str:
    expression = re.compile(_class_text(items))
    return next((sign for sign in _CANDIDATES if expression.match(sign)), _first_sign(items))


def _first_sign(items: Any) -> str:
    for item, argument in items:
        if str(item) == "LITERAL":
            return chr(argument)
        if str(item) == "RANGE":
            return chr(argument[0])
    return "a"


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip


def _class_text(items: Any) -> str:
    parts = []
    for item, argument in items:
        name = str(item)
        if name == "NEGATE":
            parts.append("^")
        elif name == "LITERAL":
            parts.append(re.escape(chr(argument)))
        elif name == "RANGE":
            parts.append(f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}")
        elif name == "CATEGORY":
            parts.append(_CATEGORIES[str(argument)])
    return f"[{''.join(parts)}]"


def _sample(parsed: Any, times: int, *, last: bool = False) -> str:
    """Return a text that matches the pattern without its lookarounds.

    Repeated subpatterns occur `times` times. The first branch of alternatives is used, or with `last` the last one.
    """
    parts = []
    for kind, value in parsed:
        name = str(kind)
        if name == "LITERAL":
            parts.append(chr(value))
        elif name == "NOT_LITERAL":
            parts.append("b" if value != ord("b") else "c")
        elif name == "ANY":
            parts.append("a")
        elif name == "IN":
            parts.append(_class_sample(value))
        elif name == "BRANCH":
            parts.append(_sample(value[1][-1 if last else 0], times, last=last))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, subpattern = value
            repeats = max(least, min(times, int(most)))
            parts.append(_sample(subpattern, times, last=last) * repeats)
        elif name == "SUBPATTERN":
            parts.append(_sample(value[-1], times, last=last))
        elif name == "ATOMIC_GROUP":
            parts.append(_sample(value, times, last=last))
    return "".join(parts)
