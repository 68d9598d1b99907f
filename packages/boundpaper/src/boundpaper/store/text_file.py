"""Read a text file, or parse it as YAML, JSON or TOML; errors name the file, and the line or key if known.

A byte order mark, which Windows programs write at the beginning of a file, is removed. A file that is not text is
recognised by its first bytes, whatever its name.
"""

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, ThesisError
from boundpaper.store.file_kind import foreign_kind, is_page
from boundpaper.store.json_text import DoubledKeyError, parsed
from boundpaper.store.rules import quoted

MARK = "\ufeff"  # the byte order mark
PAGES = (".html", ".j2")  # endings of files that may contain HTML
MOST_NODES = 300_000  # most values of a file after expanding YAML aliases; the data package has some 20,000
MOST_DEEP = 60  # deepest nesting of mappings and lists, deeper than people write
MOST_DIGITS = 19  # most digits of a whole number; 64 bits need fewer
_TOO_DEEP = f"lists and mappings nested more than {MOST_DEEP} deep; nest them less"
_SAFE_DEPTH = 1_000  # levels that the recursive loader reads without a stack overflow


def text_of(root: Path, file: str, error: type[ThesisError] = DataError) -> str:
    """Return the text of `file`, whose path is relative to `root`, without a byte order mark.

    Raises `error` when the file cannot be read, is not UTF-8, or has another format (gzip, XLSX, an HTML page...);
    FileNotFoundError when there is no such file, so that the caller can say what this means.
    """
    try:
        content = (root / file).read_bytes()
    except FileNotFoundError:
        raise
    except OSError as caught:
        raise error(f"{file}: cannot be read ({caught.strerror})") from None
    if fault := foreign_kind(content):
        raise error(f"{file}: {fault}")
    try:
        text = content.decode("utf-8").removeprefix(MARK)
    except UnicodeDecodeError as caught:
        line = content.count(b"\n", 0, caught.start) + 1
        raise error(f"{file}:{line}: not UTF-8 (byte {caught.start}); save the file in UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error(f"{file}:{line}: a NUL byte, which no text has; restore the file")
    if is_page(text) and not file.endswith(PAGES):
        raise error(f"{file}: is an HTML page, as a server sends for a login or an absent file; download it again")
    return text


def json_of(root: Path, file: str) -> dict[str, Any]:
    """Return the object in a JSON file; raise DataError if there is no object, or `parse_text` rejects the content."""
    content = parse_text(text_of(root, file), file)
    if not isinstance(content, dict):
        raise DataError(f"{file}: contains no JSON object; restore the file")
    return content


def parse_text(text: str, file: str, error: type[ThesisError] = DataError) -> Any:
    """Return the content of a JSON or TOML text, by the ending of `file`; other endings are read as YAML.

    Raises `error`, with the line or the key, when the text is not of this format, or has a key twice, NaN, a whole
    number of more than `MOST_DIGITS` digits, or lists and mappings nested deeper than `MOST_DEEP`.
    """
    ending = Path(file).suffix
    if ending not in (".json", ".toml"):
        return yaml_in(text, file, error)
    kind = ending[1:].upper()
    try:
        content = parsed(text) if ending == ".json" else tomllib.loads(text)
    except DoubledKeyError as caught:
        raise error(f"{file}: {caught}; keep one of them") from None
    except json.JSONDecodeError as caught:
        raise error(f"{file}:{caught.lineno}: not valid JSON ({caught.msg}); restore the file") from None
    except tomllib.TOMLDecodeError as caught:
        raise error(f"{file}: not valid TOML: {caught}; correct the file at this place") from None
    except (ValueError, RecursionError):
        raise error(f"{file}: not valid {kind} (a number has too many digits, or lists are nested too deep)") from None
    _refuse_odd_values(content, file, error)
    return content


def yaml_of(root: Path, file: str, error: type[ThesisError] = DataError) -> Any:
    """Return the content of a YAML file, parsed by `yaml_in`.

    Raises `error` as `yaml_in` does; FileNotFoundError when there is no such file.
    """
    return yaml_in(text_of(root, file, error), file, error)


def yaml_in(text: str, file: str, error: type[ThesisError] = DataError) -> Any:
    """Return the content of a YAML text, read by the safe loader.

    Raises `error`, with the line, when the text is not YAML or has a key twice; with the key, for a value that
    `parse_text` rejects; and when nested aliases would fill the memory.
    """
    import yaml

    try:
        if _may_nest_deeply(text) and (line := _line_nested_too_deep(text)):
            raise error(f"{file}:{line}: {_TOO_DEEP}")
        content = yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, ValueError, RecursionError) as caught:
        raise error(f"{file}{_yaml_fault(caught, text)}") from None
    _refuse_odd_values(content, file, error)
    return content


def _refuse_odd_values(content: Any, file: str, error: type[ThesisError]) -> None:
    """Raise `error` for values that nobody writes on purpose: NaN, huge whole numbers, extreme depth or size."""
    values_left = MOST_NODES
    stack: list[tuple[Any, tuple[str, ...]]] = [(content, ())]
    while stack:
        node, path = stack.pop()
        values_left -= 1
        place = f"{file}: {'.'.join(path[:4])}"
        if isinstance(node, dict):
            stack += [(key, path) for key in node] + [(value, (*path, str(key)[:40])) for key, value in node.items()]
        elif isinstance(node, (list, set, tuple)):
            stack += [(value, (*path, str(index))) for index, value in enumerate(node)]
        elif isinstance(node, float) and node != node:
            raise error(f"{place} is NaN, not a number; leave the key out if there is no value")
        elif isinstance(node, int) and abs(node) >= 10**MOST_DIGITS:
            raise error(f"{place} is a whole number of more than {MOST_DIGITS} digits; put it in quotes, or correct it")
        if len(path) > MOST_DEEP:
            raise error(f"{place}: {_TOO_DEEP}")
        if values_left < len(stack):
            raise error(f"{file}: more than {MOST_NODES} values after expanding aliases; use fewer aliases")


def _may_nest_deeply(text: str) -> bool:
    """Return whether a YAML text has enough brackets, or indentation and dashes, for more than `_SAFE_DEPTH` levels."""
    if text.count("[") + text.count("{") > _SAFE_DEPTH:
        depth = deepest = 0
        for bracket in re.findall(r"[\[\]{}]", text):
            depth = max(0, depth + (1 if bracket in "[{" else -1))
            deepest = max(deepest, depth)
        if deepest > _SAFE_DEPTH:
            return True
    return re.search(rf"^[ ?:-]{{{_SAFE_DEPTH}}}", text, re.MULTILINE) is not None


def _line_nested_too_deep(text: str) -> int:
    """Return the first line at which a YAML text is nested deeper than `MOST_DEEP`, or 0; this needs no recursion."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEEP:
            return int(getattr(event.start_mark, "line", 0)) + 1
    return 0


@cache
def _loader() -> Any:
    """Return a safe loader that rejects a repeated key; YAML's own loader would keep the last value."""
    import yaml

    class YamlLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def flatten_mapping(self, node: Any) -> None:
            """Check for repeated keys before the keys of merged mappings are added."""
            if not hasattr(node, "checked"):
                node.checked = True
                first_keys: dict[tuple[str, str], Any] = {}
                for key, _ in node.value:
                    if isinstance(key, yaml.ScalarNode) and first_keys.setdefault((key.tag, key.value), key) is not key:
                        line = first_keys[key.tag, key.value].start_mark.line + 1
                        message = f"the key {quoted(key.value)} is already at line {line}; keep one of them"
                        raise yaml.constructor.ConstructorError(None, None, message, key.start_mark)
            super().flatten_mapping(node)

    return YamlLoader


def _yaml_fault(caught: Exception, text: str) -> str:
    """Return a message on a fault in YAML: its line, what is wrong, and the line where the broken part begins."""
    mark, context_mark = getattr(caught, "problem_mark", None), getattr(caught, "context_mark", None)
    line = f":{mark.line + 1}" if mark else ""
    words = f"{line}: {getattr(caught, 'problem', None) or caught}"
    lines = text.splitlines()
    if context_mark is not None and mark is not None and context_mark.line < min(mark.line, len(lines)):
        words += f"; a bracket, quote or indentation is wrong in the part that begins at line {context_mark.line + 1}"
        return f"{words}: {quoted(lines[context_mark.line].strip())}"
    return f"{words}: {quoted(lines[mark.line].strip())}" if mark is not None and mark.line < len(lines) else words
