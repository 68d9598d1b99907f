"""Read and seal manifests: JSON files beside measurements that say how each measurement was made.

The seal has a hash of the table and a hash of the manifest's other facts, so that a change of either is noticed.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from boundpaper.store.files import write
from boundpaper.store.paths import SUFFIXES
from boundpaper.store.rules import Rule, anything, by_name, either, mapping, number, one_of, require, text, whole
from boundpaper.store.table_file import rows, table_hash
from boundpaper.store.text_file import json_of

SEAL = "table"
FACTS = "facts"  # key in the seal: the hash of the manifest's other facts
WIDTH = 120  # most characters of a line in a manifest
_ANY_MAPPING = by_name(anything)
_RULE: Rule = mapping(
    {
        SEAL: mapping({"blake2": text, "rows": whole, FACTS: text}),
        "versions": by_name(text),
        "hashes": by_name(_ANY_MAPPING),
        # What was measured, how, and with what; each experiment has different settings.
        **dict.fromkeys(
            ("model", "capture", "options", "settings", "thresholds", "recipe", "blocks", "modes"), _ANY_MAPPING
        ),
        **dict.fromkeys(("command", "device", "texts", "items", "positional", "arm", "teacher", "windows"), text),
        **dict.fromkeys(("step", "threads", "training_length", "training_seed"), either(one_of(None), whole)),
        "seconds": number,
    }
)


def manifest(root: Path, table: str) -> dict[str, Any]:
    """Return the manifest of the file `table`, a path relative to `root`; empty if there is no manifest.

    Raises DataError when the file is not a JSON object, or has invalid keys or values.
    """
    file = Path(table).with_suffix(".json").as_posix()
    try:
        content = json_of(root, file)
    except FileNotFoundError:
        return {}
    require(content, _RULE, file)
    return content


def _facts_hash(content: dict[str, Any]) -> str:
    """Return the hash of a manifest without its seal, 32 hexadecimal digits."""
    facts = {key: value for key, value in content.items() if key != SEAL}
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16).hexdigest()


def sealed_text(content: dict[str, Any], path: Path) -> bytes:
    """Return a manifest's text with a seal: the hash of its facts, and hash and row count of the table at `path`."""
    facts = json.loads(json.dumps(content))
    seal = {"blake2": table_hash(path), FACTS: _facts_hash(facts), "rows": sum(1 for _ in rows(path))}
    return manifest_text({**facts, SEAL: seal})


def manifest_text(content: dict[str, Any]) -> bytes:
    """Return a manifest's text: sorted keys, one per line at the top level; deeper values on one line if possible."""
    entries = [_value_text(content[key], 1, f" {json.dumps(key)}: ") for key in sorted(content)]
    return ("{\n" + ",\n".join(entries) + "\n}\n").encode()


def _value_text(value: Any, depth: int, start: str) -> str:
    """Return `start` and the JSON of a value, wrapped if the line would be too long."""
    line = start + json.dumps(value, sort_keys=True)
    if len(line) < WIDTH or not value or not isinstance(value, dict | list):
        return line
    indent = " " * (depth + 1)
    if isinstance(value, dict):
        brackets, members = "{}", [(f"{json.dumps(key)}: ", value[key]) for key in sorted(value)]
    else:
        brackets, members = "[]", [("", member) for member in value]
    lines: list[str] = []
    is_plain = False
    for name, member in members:
        text, previous_was_plain = _value_text(member, depth + 1, indent + name), is_plain
        is_plain = not isinstance(member, dict | list)
        if previous_was_plain and is_plain and len(lines[-1]) + len(text) - depth < WIDTH:
            lines[-1] += ", " + text[depth + 1 :]
        else:
            lines.append(text)
    return start + brackets[0] + "\n" + ",\n".join(lines) + "\n" + indent[1:] + brackets[1]


def contradiction(root: Path, table: str) -> str:
    """Return how a manifest contradicts its table; empty if they agree or there is no manifest."""
    file = Path(table).with_suffix(".json").as_posix()
    content = manifest(root, table)
    if not content and not (root / file).is_file():
        return ""
    seal = content.get(SEAL)
    if not isinstance(seal, dict):
        return f"{file} has no seal; if the table is complete, run: python -m boundpaper.store.manifest {table}"
    if seal.get(FACTS, _facts_hash(content)) != _facts_hash(content):
        return f"{file} was changed since it was sealed; restore it from version control"
    if seal.get("blake2") != table_hash(root / table):
        count, sealed_count = sum(1 for _ in rows(root / table)), seal.get("rows")
        same_count = count == sealed_count
        change = f"cells of its {count} rows were changed" if same_count else f"{count} rows of {sealed_count}"
        return (
            f"not the measured table ({change}, according to the seal in {file}); restore it from version control, or "
            "measure again"
        )
    return ""


def main(tables: list[str]) -> None:
    """Seal the manifests of `tables`, by default of all tables without a seal or with an old seal without `facts`."""
    root = Path.cwd()
    paths = (path for suffix in SUFFIXES for path in root.glob(f"artifacts/measurements/*/*{suffix}"))
    for table in tables or sorted(path.relative_to(root).as_posix() for path in paths):
        content = manifest(root, table)
        seal: dict[str, Any] = content.get(SEAL, {})
        is_old_seal = bool(seal) and FACTS not in seal and seal.get("blake2") == table_hash(root / table)
        if content and (tables or not seal or is_old_seal):
            write((root / table).with_suffix(".json"), sealed_text(content, root / table))
            print(table)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
