"""Every fault in a YAML, JSON or TOML file that users write is refused with the names of file and key.

`FILES` lists the files with valid content. Each test damages every key of each file in a different way.
"""

import copy
import json
from pathlib import Path

import pytest
import yaml

from boundpaper.adopt import folder as adopted
from boundpaper.errors import ThesisError
from boundpaper.paper import crate, metadata
from boundpaper.paper.tex import pages
from boundpaper.store import descriptor, paper_vocabulary, paths
from boundpaper.store.manifest import manifest
from boundpaper.store.project_file import described_project
from conftest import ROOT
from keyquery.measure.recipes import load_recipe

PACKAGE = {
    "name": "beans",
    "columns": {"height": {"type": "number", "unit": "cm", "minimum": 0}},
    "resources": [
        {
            "name": "plants",
            "title": "Plants",
            "origin": [{"document": "001", "section": "2"}],
            "fields": [{"plant*": "Key"}, "height", {"name": "note", "type": "string"}],
            "range": {"height": [0, 90]},
        }
    ],
}
RECIPE = {
    "title": "Beans",
    "experiments": ["sinks"],
    "context": 128,
    "memory": 2.5,
    "documents": 2,
    "tokens": 64,
    "items": 3,
    "seeds": [0, 1],
    "texts": "beans.txt",
    "settings": {"sinks": {"taus": [0.5]}},
    "models": [
        {
            "name": "bean",
            "id": "garden/bean",
            "dtype": "bf16",
            "double": False,
            "shape": {
                **{"type": "llama", "layers": 2, "width": 64, "inner": 128, "heads": 4, "key_heads": 2, "head_dim": 16},
                **{"vocabulary": 100, "positions": 64, "rope_theta": 10000, "tied": True, "cross_layers": [1]},
            },
        }
    ],
}
METADATA = {
    "title": "Beans",
    "date": "2026",
    "author": [{"name": "A. Gardener", "email": "a@garden.example"}],
    "keywords": ["beans"],
    "chapters": ["introduction"],
    "names": [r"B\d"],
}
VOCABULARY = {
    "words": {"metric": {"height_cm": "height"}},
    "numbers": {"dozen": 12},
    "stated_of": {"plant": "phrase"},
    "headlines": ["Harvest"],
    "ledger": [{"find": "a", "show": "b"}],
    "entities": {"bean": {"color": "okgreen", "mark": "square"}},
    "named": {"plants": {"key": "plant", "name": "label"}},
}
LAYOUT = yaml.safe_load((ROOT / "paper/layout.yaml").read_text())
CITATION = {
    "cff-version": "1.2.0",
    "title": "Beans",
    "message": "Cite it.",
    "authors": [{"name": "A. Gardener"}],
    "keywords": ["beans"],
}
PROJECT = {
    "project": {"version": "1", "requires-python": ">=3.11", "dependencies": ["boundpaper"]},
    "tool": {"boundpaper": {"purposes": {"garden": "pictures"}}},
}
ADOPTED = {
    "main": "main.tex",
    "data": ["data/*.csv"],
    "cells": 100,
    "tables": {"beans": {"key": ["plant"]}},
    "rows": {"tall": {"table": "beans", "columns": ["height"]}},
    "page": {"column": 300.5, "cite": "natbib"},
    "lint": {"names": ["B1"]},
}
MANIFEST = {"command": "run beans", "versions": {"torch": "2"}, "seconds": 1.5, "table": {"blake2": "0", "rows": 3}}
ROTATION = {"frequencies": [1.0, 0.5], "layout": "half", "dimensions": 4, "start": 0, "factor": 1.5, "layers": [0, 1]}


def rotation(root):
    from keyquery.models.captures.stated import _rotations_of_statement, _statement_content

    path = root / "rotation.json"
    return _rotations_of_statement(path, _statement_content(path), {0: 8, 1: 8})


def vocabulary(root):
    return paper_vocabulary._vocabulary_of_text((root / paths.VOCABULARY).read_text())


MEASURED = "artifacts/measurements/beans/one.csv"
FILES = {
    "paper/metadata.yaml": (METADATA, metadata.read),
    "paper/vocabulary.yaml": (VOCABULARY, vocabulary),
    "paper/layout.yaml": (LAYOUT, pages.read_limits),
    "artifacts/datapackage.yaml": (PACKAGE, descriptor.full_package),
    "packages/garden/src/boundpaper/tables.yaml": (PACKAGE, descriptor.full_package),
    "artifacts/recipes/beans.yaml": (RECIPE, lambda root: load_recipe(root / "artifacts/recipes/beans.yaml")),
    "artifacts/measurements/beans/one.json": (MANIFEST, lambda root: manifest(root, MEASURED)),
    "CITATION.cff": (CITATION, crate.citation),
    "pyproject.toml": (PROJECT, described_project),
    "boundpaper.toml": (ADOPTED, adopted.read),
    "rotation.json": (ROTATION, rotation),
}  # fmt: skip
PACKAGES = ("artifacts/datapackage.yaml", "packages/garden/src/boundpaper/tables.yaml")
OPEN = {  # keys whose value may have another type: a string or a list, any number, a negative limit, no limit
    ("paper/metadata.yaml", "author", "text for a list"),
    *(("boundpaper.toml", key, "text for a list") for key in ("data", "key", "columns", "names")),
    ("paper/vocabulary.yaml", "dozen", "a negative number"),
    *((file, key, "a negative number") for file in PACKAGES for key in ("minimum", 0)),
    *((file, key, "an infinity") for file in PACKAGES for key in (1,)),
    *((file, key, "null") for file in PACKAGES for key in ("plant*", "resources")),
    ("pyproject.toml", "tool", "a mapping"),
}


def file_text(file, content):
    if file.endswith(".json"):
        return json.dumps(content, indent=1)
    if file.endswith(".toml"):
        return "".join(_toml((), content))
    return yaml.safe_dump(content, sort_keys=False)


def _toml(path, content):
    yield f"[{'.'.join(path)}]\n" if path else ""
    yield from (f"{key} = {_value(value)}\n" for key, value in content.items() if not isinstance(value, dict))
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _toml((*path, key), value)


def _value(value):
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a file to a folder with all related files, and reads it as the project does."""
    for name in ("paper/chapters", "artifacts/sources"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "paper/chapters/introduction.tex.j2").write_text("Beans.")
    (tmp_path / "artifacts/datapackage.yaml").write_text("name: a\nresources: []\n")
    (tmp_path / "main.tex").write_text("")

    def write_and_read(file, text):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        descriptor._descriptor.cache_clear()
        return FILES[file][1](tmp_path)

    return write_and_read


def paths_in(content, path=()):
    """Yield the path (keys and indices) of every value inside a file's content."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths_in(value, (*path, key))


def value_at(content, path):
    for key in path:
        content = content[key]
    return content


def with_value(content, path, value):
    copied = copy.deepcopy(content)
    value_at(copied, path[:-1])[path[-1]] = value
    return copied


def refusal(read, file, text):
    """Check that reading a file raises a short error of the project that names the file; return its message."""
    with pytest.raises(ThesisError) as error:
        read(file, text)
    message = str(error.value)
    assert Path(file).name in message, message
    assert len(message) < 500, message
    assert message.count("\n") < 2
    return message


WRONG = {
    "null": lambda value: None,
    "a mapping": lambda value: {"beans": {"of": 1}},
    "NaN": lambda value: float("nan"),
    "an infinity": lambda value: float("inf"),
    "an endless number": lambda value: 10**60,
    "a number for a text": lambda value: 3.25 if isinstance(value, str) else None,
    "text for a list": lambda value: "beans" if isinstance(value, list) else None,
    "list for a text": lambda value: [value, [value]] if isinstance(value, str) else None,
    "a text for a number": lambda value: "beans" if isinstance(value, int | float) else None,
    "a truth for a number": lambda value: True if isinstance(value, int | float) and value is not False else None,
    "a negative number": lambda value: -5 if isinstance(value, int) else None,
}


@pytest.mark.parametrize("file", FILES)
def test_valid_file_is_read(read, file):
    assert read(file, file_text(file, FILES[file][0])) is not None


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("file", FILES)
def test_a_wrong_value_is_refused_with_its_key(read, file, kind):
    content = FILES[file][0]
    accepted = []
    for path in paths_in(content):
        value = WRONG[kind](value_at(content, path))
        if (value is None and (kind != "null" or file.endswith(".toml"))) or value == value_at(content, path):
            continue
        try:
            message = refusal(read, file, file_text(file, with_value(content, path, value)))
        except pytest.fail.Exception:
            accepted.append(path)
            continue
        key = next(str(part) for part in reversed(path) if isinstance(part, str))
        assert (
            key.rstrip("*s") in message
            or "is not a text; describe the column" in message
            or any(str(part) in message for part in path)
        ), message
    assert accepted == [path for path in accepted if (file, path[-1], kind) in OPEN]


@pytest.mark.parametrize("file", FILES)
def test_an_unknown_key_is_refused_by_name(read, file):
    content = FILES[file][0]
    free = {"words", "metric", "numbers", "stated_of", "entities", "named", "columns", "range", "versions", "settings"}
    free |= {"tables", "rows", "purposes", "project", "tool"}
    if file != "pyproject.toml":
        assert "harvestt" in refusal(read, file, file_text(file, {**content, "harvestt": 1}))
    for path in paths_in(content):
        if isinstance(value_at(content, path), dict) and path[-1] not in free:
            extended = {**value_at(content, path), "harvestt": 1}
            assert "harvestt" in refusal(read, file, file_text(file, with_value(content, path, extended)))


@pytest.mark.parametrize("file", FILES)
def test_duplicate_key_is_refused(read, file):
    text = file_text(file, FILES[file][0])
    key = next(iter(FILES[file][0]))
    if file.endswith(".json"):
        text = text.replace("{", f'{{"{key}": 1, ', 1)
    elif file.endswith(".toml"):
        key = text.partition(" = ")[0].rpartition("\n")[2]
        text = text.replace(f"{key} = ", f'{key} = "a"\n{key} = ', 1)
    else:
        text += text[: text.index("\n")] + "\n" if not text.splitlines()[1].startswith(" ") else f"{key}: 1\n"
    message = refusal(read, file, text)
    assert key in message or "overwrite" in message


@pytest.mark.parametrize("depth", [100, 2_000, 100_000])
@pytest.mark.parametrize("file", FILES)
def test_deeply_nested_file_is_refused(read, file, depth):
    key = next(iter(FILES[file][0]))
    lists = "[" * depth + "]" * depth
    text = {"n": f'{{"{key}": {lists}}}', "l": f"{key} = {lists}\n"}.get(file[-1], f"{key}: {lists}\n")
    refusal(read, file, text)


@pytest.mark.parametrize("digits", [30, 5_000])
@pytest.mark.parametrize("file", FILES)
def test_number_with_too_many_digits_is_refused(read, file, digits):
    text = {"n": '{{"a": {}}}', "l": "a = {}\n"}.get(file[-1], "a: {}\n").format("1" * digits)
    refusal(read, file, text)
