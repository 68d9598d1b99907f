"""A new paper: the empty frame of another thesis on this engine, in a folder of its own.

The packages are copied as they lie. What is written in studies, claims, tables, figures and chapters of this thesis
stays here.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.store.descriptor import package
from boundpaper.store.files import abandoned, draft, write
from boundpaper.store.paths import SCHEMA

MACHINERY = "packages/*/src"
"""Folders of which every file is the engine's."""
ALSO = (
    *("packages/*/pyproject.toml", "packages/*/README.md", "paper/thesis.tex.j2", "paper/preamble.tex"),
    *("docs/architecture.md", "docs/extending.md", "docs/measuring.md", "docs/own-paper.md", "docs/site.md"),
    *("docs/robustness.md", "docs/population-plan.md", "docs/distil-plan.md"),
    *("analysis/__init__.py", "analysis/studies/__init__.py", "analysis/claims/__init__.py"),
    *("tables/__init__.py", "figures/__init__.py", "build.py", "constraints.txt", ".gitignore"),
)
LEFT_OUT = (
    "pretrained",
    r"\$\(VENV\)/pretrained.stamp",
    "test-slurm",
    "test-browser",
    "golden",
    "benchmark",
    "constraints",
    "repeatable",
    "soak",
)
"""Targets of the Makefile whose files stay here."""
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

    make test                   # lint, types, tests, and the committed results recomputed
    git init && git add -A && git commit -m "Begin"    # `diff HEAD` and `claims --check` compare with it

`docs/own-paper.md` goes through a first source, claim, table, figure and chapter; `docs/extending.md` has recipes for a
model, a measured one, a statistic and an experiment; `docs/measuring.md` says how models are measured, and
`docs/architecture.md` how the build decides what to do.

The engine is that of long-context-thesis {version}, under the licence in `LICENSE-engine`. Under which licence your own
text and data are is yours to say in a file `LICENSE`, and how to cite them in `CITATION.cff`.
"""
CITATION = """cff-version: 1.2.0
message: "If this paper or its data serve your work, please cite it."
title: {title}
type: dataset
authors:
  - name: Nobody yet # a person has family-names, given-names and orcid in place of name
"""
TEST = '''"""What holds of this paper, whatever it says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_artifact_is_in_order():
    done = subprocess.run([sys.executable, "build.py", "check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
'''


def engine(root: Path) -> tuple[str, ...]:
    """The files of the engine, relative to the project in `root`."""
    files = {
        path.relative_to(root).as_posix()
        for folder in root.glob(MACHINERY)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for pattern in ALSO:
        files |= {path.relative_to(root).as_posix() for path in root.glob(pattern) if path.is_file()}
    return tuple(sorted(files))


def new_paper(root: Path, folder: Path, title: str, date: str) -> list[str]:
    """Write the frame of another thesis into `folder`, whole or not at all; return its files, relative to it.

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
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder}: is a file; name a folder that does not exist yet")
    if folder.resolve().is_relative_to(root.resolve()):
        raise SpecError(f"{folder}: lies inside this project; name a folder outside of it")
    _remove_drafts(folder)
    if folder.exists() and any(folder.iterdir()):
        raise SpecError(f"{folder}: is not empty; name a folder that does not exist yet")
    files = {name: (root / name).read_bytes() for name in engine(root)}
    files |= {name: text.encode() for name, text in _written(root, title, date)}
    beside = folder / folder.resolve().name if folder.exists() else folder  # an empty folder may be where one stands
    frame = draft(beside)
    try:
        for name, content in sorted(files.items()):
            write(frame / name, content)
        if folder.exists():
            for entry in sorted(frame.iterdir()):
                entry.rename(folder / entry.name)
            frame.rmdir()
        else:
            frame.rename(folder)
    except BaseException:
        shutil.rmtree(frame, ignore_errors=True)
        raise
    return sorted(files)


def _remove_drafts(folder: Path) -> None:
    """Remove the half-written frames that killed commands left beside a folder, or in it."""
    beside = folder.absolute().parent
    found = [path for path in beside.iterdir() if path.name.endswith(f"-{folder.name}.part")] if beside.is_dir() else []
    found += list(folder.iterdir()) if folder.is_dir() else []
    for path in found:
        if path.is_dir() and abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


def _written(root: Path, title: str, date: str) -> Iterator[tuple[str, str]]:
    """The files of the frame that are its own: a title, a chapter, and tables without rows."""
    resources = [_emptied(entry) for entry in package(root)["resources"] if entry["name"] in KEPT]
    yield SCHEMA, f"name: {_slug(title)}\ntitle: {_word(title)}\n{_shared(root)}{_yaml({'resources': resources})}"
    thesis = {"document": "thesis", "group": "thesis", "title": title, "coverage": "claims"}
    thesis["reason"] = "citation: it does not cite itself"
    for entry in resources:
        if entry["name"] in TABLES:
            rows = [thesis] if entry["name"] == "documents" else []
            yield f"artifacts/{entry['path']}", _csv([field["name"] for field in entry["schema"]["fields"]], rows)
    yield "paper/metadata.yaml", METADATA.format(title=_word(title), date=date)
    yield "paper/references.bib", "% One entry a work that the chapters cite.\n"
    yield CHAPTER, INTRODUCTION
    yield "README.md", README.format(title=title, version=_version(root))
    yield "CITATION.cff", CITATION.format(title=_word(title))
    yield "LICENSE-engine", (root / _first(root, "LICENSE-engine", "LICENSE")).read_text(encoding="utf-8")
    yield "Makefile", _makefile((root / "Makefile").read_text(encoding="utf-8"))
    yield "pyproject.toml", _project((root / "pyproject.toml").read_text(encoding="utf-8"), title)
    yield "tests/test_paper.py", TEST


def _first(root: Path, *names: str) -> str:
    return next(name for name in names if (root / name).is_file())


def _version(root: Path) -> str:
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def _slug(title: str) -> str:
    """A title as the name of a package: small letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:60].strip("-") or "paper"


def _makefile(text: str) -> str:
    """The Makefile without the targets whose files stay here."""
    blocks = [block for block in text.split("\n\n") if not re.search(rf"(?m)^({'|'.join(LEFT_OUT)}):", block)]
    blocks[0] = re.sub(r"(?m)^# make pretrained.*\n", "", blocks[0])
    for target in LEFT_OUT:
        blocks = [re.sub(rf"(?m)^(\.PHONY:.*) {target}(?= |$)", r"\1", block) for block in blocks]
    return "\n\n".join(blocks).rstrip() + "\n"


def _project(text: str, title: str) -> str:
    """The description of the Python project with the paper's own name, and no licence, which is yet to be chosen."""
    for pattern, now in (
        (r'name = ".*"\n', f'name = "{_slug(title)}"\n'),
        (r'description = ".*"\n', f"description = {_word(title)}\n"),
        (r'license = ".*"\n', ""),
    ):
        text = re.sub(f"(?m)^{pattern}", now.replace("\\", r"\\"), text, count=1)
    return text


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
