"""A new paper: the empty frame of another thesis on this engine, in a folder of its own.

The engine is found, not listed: the files that the command line and the builders import, the rooms that hold machinery
only, and the templates. What is written in studies, claims, tables, figures and chapters of this thesis stays here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from artifacts.build.closure import Closures
from artifacts.build.facts import Reader
from artifacts.build.kinds import KINDS
from artifacts.errors import SpecError
from artifacts.store.descriptor import package
from artifacts.store.files import write
from artifacts.store.paths import SCHEMA

MACHINERY = (
    *("artifacts", "paper", "analysis/statistics", "analysis/heads", "analysis/jobs", "analysis/models"),
    *("analysis/language", "analysis/tasks", "analysis/measure"),
)
"""Rooms of which every Python file is the engine's."""
ALSO = (
    *("tables/_press/templates/*", "figures/_press/templates/*", "paper/thesis.tex.j2", "paper/preamble.tex"),
    *("paper/site/templates/*", "paper/annotate/templates/*"),
    *("docs/architecture.md", "docs/extending.md", "docs/site.md", "artifacts/models/*/*"),
    *("Makefile", "pyproject.toml", "constraints.txt", "LICENSE", ".gitignore"),
)
ENTRY = "build.py"
COMMANDS = "paper/commands"  # which the entry finds, and does not import by name
TABLES = ("documents", "places", "families", "models", "subjects")
GATHERED = ("claims", "claim_places", "provenance")
MEASURED = (
    *("head_metrics", "head_profile", "head_pairs", "head_competition", "head_components", "head_spectrum"),
    *("head_plane", "model_metrics", "capture_halves", "measured_lbp", "measured_ruler"),
)
"""Measurements that commands of the engine write: `heads`, and `bench`."""
KEPT = (*TABLES, *GATHERED, *MEASURED)
CHAPTER = "paper/chapters/introduction.tex.j2"
METADATA = """# What the title page says, the order of the chapters, and what the lint takes for a name, not a number.
title: {title}
author: Nobody yet
date: "{date}"
chapters: [introduction]
"""
INTRODUCTION = """\\chapter{Introduction}\\label{ch:introduction}

The thesis begins here. Numbers come from artifacts, exhibits from their folders; \\texttt{docs/extending.md} says how.
"""
README = """# {title}

A thesis in which every number is bound to an artifact and every claim is checked.

    make paper                  # out/thesis.pdf
    python build.py check       # every artifact against its schema

`docs/extending.md` has recipes for a source, a model, a measured one, a claim, a statistic, an exhibit and an
experiment; `docs/architecture.md` says how the build decides what to do.
"""


def engine(root: Path) -> tuple[str, ...]:
    """The files of the engine, relative to the project in `root`."""
    closures = Closures(Reader(root))
    entries = [ENTRY, *(path.relative_to(root).as_posix() for path in (root / COMMANDS).glob("*.py"))]
    files = set().union(*(closures.of(path) for path in [*entries, *(kind.builder_file for kind in KINDS)]))
    for room in MACHINERY:
        files |= {path.relative_to(root).as_posix() for path in (root / room).rglob("*.py")}
    for pattern in ALSO:
        files |= {path.relative_to(root).as_posix() for path in root.glob(pattern) if path.is_file()}
    return tuple(sorted(files))


def new_paper(root: Path, folder: Path, title: str, date: str) -> list[str]:
    """Write the frame of another thesis into `folder`; return its files, relative to it.

    Parameters
    ----------
    root : Path
        This project.
    folder : Path
        Where the new one shall lie; must not exist, or be empty.
    title, date : str
        Of the title page.

    Raises
    ------
    SpecError
        When there is something in the folder, or it lies inside this project.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder}: is not empty; name a folder that does not exist yet")
    if folder.resolve().is_relative_to(root.resolve()):
        raise SpecError(f"{folder}: lies inside this project; name a folder outside of it")
    files = {name: (root / name).read_bytes() for name in engine(root)}
    files |= {name: text.encode() for name, text in _written(root, title, date)}
    for name, content in sorted(files.items()):
        write(folder / name, content)
    return sorted(files)


def _written(root: Path, title: str, date: str) -> Iterator[tuple[str, str]]:
    """The files of the frame that are its own: a title, a chapter, and tables without rows."""
    resources = [_emptied(entry) for entry in package(root)["resources"] if entry["name"] in KEPT]
    yield SCHEMA, f"name: a-new-paper\ntitle: {_word(title)}\n{_shared(root)}{_yaml({'resources': resources})}"
    thesis = {"document": "thesis", "group": "thesis", "title": title, "coverage": "claims"}
    thesis["reason"] = "citation: it does not cite itself"
    for entry in resources:
        if entry["name"] in TABLES:
            rows = [thesis] if entry["name"] == "documents" else []
            yield f"artifacts/{entry['path']}", _csv([field["name"] for field in entry["schema"]["fields"]], rows)
    yield "paper/metadata.yaml", METADATA.format(title=_word(title), date=date)
    yield "paper/references.bib", "% One entry a work that the chapters cite.\n"
    yield CHAPTER, INTRODUCTION
    yield "README.md", README.format(title=title)


def _emptied(entry: dict[str, Any]) -> dict[str, Any]:
    """A resource as the frame has it: without rows, awaiting the first one, or the first measurement."""
    kept = {key: entry[key] for key in ("name", "path", "title", "description", "kind", "schema")}
    measured = entry["name"] in MEASURED
    return {**kept, "awaits": "a measurement"} if measured else {**kept, "origin": [], "awaits": "the first row"}


def _shared(root: Path) -> str:
    """The schemas that tables share, in full and with the names by which tables refer to them."""
    lines = ["shared:\n"]
    for name, schema in package(root)["shared"].items():
        lines += [f"  {name}: &{name}\n", *(f"    {line}\n" for line in _yaml(schema).splitlines())]
    return "".join(lines)


def _csv(names: list[str], rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _word(text: str) -> str:
    """A text as YAML on one line."""
    return json.dumps(text, ensure_ascii=False)


def _yaml(data: Any) -> str:
    import yaml

    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=200, default_flow_style=None)
