"""Damaged files of every kind that a user writes, read through the command line: what it says, and how it ends.

Amiss is a traceback, a line of the engine's code, a command without end, NaN or an infinity in what is printed or
written, and an error that names neither the file nor its folder.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soak import frame
from tests.soak.fuzz import damaged

OUTCOMES = ("told", "accepted", "code line", "unnamed", "nan", "traceback", "hang")
SECONDS = 60  # of the processor, after which a command counts as one without end
WAITED = 600  # seconds of the clock, for one that waits
SCRIPT = "limited.py"
LIMITED = f"""import signal
signal.setitimer(signal.ITIMER_PROF, {SECONDS})
signal.alarm({WAITED})
exec(compile(open("build.py").read(), "build.py", "exec"))
"""
CODE = re.compile(r"\b[\w/]+\.py:\d+\b[^\n]*(?:Error|Exception)\b|\(\w+\.py:\d+\)")
ODD = re.compile(r"(?<![\w.-])(?:nan|-?inf(?:inity)?)(?![\w-])", re.IGNORECASE)
LEAVES = (None, True, -1, 0, 1e308, 10**400, "", "nope", "0", [], {}, [[]], {"a": 1})


@dataclass(frozen=True)
class Kind:
    """A kind of file: some of it, and the commands that read one of them."""

    files: Sequence[Path]
    commands: Callable[[Path], Sequence[tuple[str, ...]]]


def changed(path: Path, chance: random.Random) -> bytes:
    """A file's content with a seeded change: of its bytes, or of one value where it is JSON."""
    content = path.read_bytes()
    if path.suffix in (".json", ".jsonl") and chance.random() < 0.5:
        lines = content.splitlines() if path.suffix == ".jsonl" else [content]
        at = chance.randrange(len(lines))
        lines[at] = json.dumps(_with_odd_leaf(json.loads(lines[at]), chance)).encode()
        return b"\n".join(lines)
    return damaged(content, chance)


def _with_odd_leaf(data: Any, chance: random.Random) -> Any:
    """A JSON value in which one value, at any depth, is another one than it should be, or is gone."""
    inside = isinstance(data, (dict, list)) and len(data) > 0
    if not inside or chance.random() < 0.15:
        return chance.choice(LEAVES)
    keys = list(data) if isinstance(data, dict) else range(len(data))
    key = chance.choice(keys)
    if chance.random() < 0.1:
        return (
            [each for each in data if each != key]
            if isinstance(data, list)
            else {k: v for k, v in data.items() if k != key}
        )
    copy = list(data) if isinstance(data, list) else dict(data)
    copy[key] = _with_odd_leaf(data[key], chance)
    return copy


def kinds(paper: Path, thesis: Path, chance: random.Random) -> dict[str, Kind]:
    """Every kind of file; those of the small paper, and tables of the thesis with the exhibits that read them."""
    from artifacts.build.facts import Reader
    from artifacts.build.graph import load

    graph = load(thesis, Reader(thesis))
    tables = {key: set(graph.order([key])) for key, step in graph.steps.items() if step.kind.name == "table"}

    def exhibit(path: Path) -> Sequence[tuple[str, ...]]:
        place = path.relative_to(thesis / "artifacts")
        name = place.stem if place.parts[0] == "sources" else place.parts[1]
        needing = [key for key, needs in tables.items() if {f"source:{name}", f"measurement:{name}"} & needs]
        near = sorted(needing, key=lambda key: len(tables[key]))[:3]
        return [("table", chance.choice(near).partition(":")[2])] if near else [("check",)]

    def one(*commands: tuple[str, ...]) -> Callable[[Path], Sequence[tuple[str, ...]]]:
        return lambda path: [chance.choice(commands)]

    read = [path for path in sorted((thesis / "artifacts/sources").glob("*.csv")) if exhibit(path) != [("check",)]]
    measured = sorted((thesis / "artifacts/measurements").glob("*/*.[cp]*"))
    measured = [path for path in measured if exhibit(path) != [("check",)]]
    capture = ("capture", "--model", "own-model", "--texts", "texts.jsonl", *frame.CAPTURE, "--out", "new-capture")
    gguf = ("capture", "--model", "own.gguf", *capture[3:])
    heads = ("heads", "capture", "--bins", "2", "--min-queries", "4", "-j", "1", "--name", "own", "--replace")
    ruler = ("bench", "ruler", "--model", "tiny-bytes", "--name", "own", "--results", "results.json", "--replace")
    ruler += ("--lengths", "4k", "--partial")
    lbp = ("bench", "lbp", "--model", "own", "--name", "own", "--predictions", "predictions.jsonl", "--replace")
    lbp += ("--data", "samples.jsonl", "--lengths", "8k", "--partial")
    texts = ("capture", "--model", "own-model", "--texts")
    model = paper / "own-model"
    return {
        "sources": Kind(chance.sample(read, min(20, len(read))), exhibit),
        "measurements": Kind(chance.sample(measured, min(20, len(measured))), exhibit),
        "manifests": Kind(
            [path.with_suffix(".json") for path in chance.sample(measured, min(20, len(measured)))], exhibit
        ),
        "own sources": Kind(
            [paper / "artifacts/sources/bean_heights.csv", paper / "artifacts/sources/places.csv"],
            one(("check",), ("claims",), ("table", "bean_heights"), ("figure", "bean_growth", "--format", "tex")),
        ),
        "datapackage": Kind(
            [paper / "artifacts/datapackage.yaml"], one(("check",), ("table", "bean_heights"), ("claims",))
        ),
        "metadata and layout": Kind(
            [paper / "paper/metadata.yaml", *(paper / "paper").glob("layout.yaml")], one(("paper",), ("check",))
        ),
        "citation": Kind([paper / "CITATION.cff"], one(("publish",))),
        "chapters": Kind(
            [paper / "paper/chapters/introduction.tex.j2", paper / "paper/thesis.tex.j2"], one(("paper",))
        ),
        "references": Kind([paper / "paper/references.bib"], one(("paper",), ("site",))),
        "recipes": Kind([paper / "recipe.yaml"], one(("run", "--recipe", "recipe.yaml", "--replace"))),
        "state": Kind(
            [paper / "out/state/state.json", paper / "out/state/facts.json", paper / "out/state/unchanged.json"],
            one(("table", "bean_heights"), ("claims",)),
        ),
        "safetensors": Kind([model / "model.safetensors"], one(capture)),
        "model files": Kind(
            [model / name for name in ("config.json", "tokenizer.json", "tokenizer_config.json")], one(capture)
        ),
        "gguf": Kind([paper / "own.gguf"], one(gguf)),
        "captures": Kind(
            sorted((paper / "capture").glob("*.json")) + sorted((paper / "capture").rglob("*.parquet")), one(heads)
        ),
        "results of lm-eval": Kind([paper / "results.json"], one(ruler)),
        "predictions": Kind([paper / "predictions.jsonl", paper / "samples.jsonl"], one(lbp)),
        "texts": Kind(
            [paper / "texts.jsonl", paper / "text.txt"],
            lambda path: [(*texts, path.name, *frame.CAPTURE, "--out", "new-capture")],
        ),
    }


def _begun(project: Path, folder: Path) -> tuple[Path, Path]:
    """The small paper, with what some commands need, and a copy of the thesis without what it built."""
    paper = frame.paper(project, folder / "paper")
    thesis = folder / "thesis"
    ignored = shutil.ignore_patterns("out", ".*", "golden", "__pycache__")
    shutil.copytree(project, thesis, ignore=ignored)
    for root in (paper, thesis):
        (root / SCRIPT).write_text(LIMITED)
    sys.path.insert(0, str(project / "tests"))
    try:
        import gguf_made

        gguf_made.made(paper / "own.gguf")
    except ModuleNotFoundError:
        pass  # without the package `gguf` there is no such file, and that kind is left out
    return paper, thesis


def run(
    project: Path, mutations: int, seed: int, only: Sequence[str] = ()
) -> Iterator[tuple[str, Counter[str], list[str]]]:
    """For each kind of file, or those named: counts of how commands ended, and each outcome that should not be."""
    sys.path.insert(0, str(project / "tests"))
    import warmed

    os.environ["HF_HUB_OFFLINE"] = "1"
    chance, folder = random.Random(seed), Path(tempfile.mkdtemp(prefix="soak-"))
    interpreter = warmed.Interpreter(str(project / "tests/soak/warm.py"))
    try:
        paper, thesis = _begun(project, folder)
        begin = ("capture", "--model", "own-model", "--texts", "texts.jsonl", *frame.CAPTURE, "--out", "capture")
        for command in (
            begin,
            ("heads", "capture", "--bins", "2", "--min-queries", "4", "-j", "1", "--name", "own"),
            ("paper",),
        ):
            done = interpreter.run(paper, "build.py", *command)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} fails undisturbed: {done.stderr[-600:]}")
        every = kinds(paper, thesis, chance)
        words = [word.strip() for word in only]
        if unknown := [word for word in words if word not in every]:
            raise SystemExit(f"no kind {unknown[0]!r}; have {', '.join(every)}")
        for word, kind in every.items():
            files = [path for path in kind.files if path.is_file()]
            if files and (not words or word in words):
                yield word, *_of_kind(interpreter, paper, thesis, files, kind, mutations, chance)
    finally:
        interpreter.end()
        shutil.rmtree(folder)


def _of_kind(
    interpreter: Any,
    paper: Path,
    thesis: Path,
    files: Sequence[Path],
    kind: Kind,
    mutations: int,
    chance: random.Random,
) -> tuple[Counter[str], list[str]]:
    counts, wrong = Counter[str](), list[str]()
    undisturbed: set[tuple[str, ...]] = set()
    for _ in range(mutations):
        path = chance.choice(files)
        root = thesis if path.is_relative_to(thesis) else paper
        content, state = path.read_bytes(), chance.getstate()
        for command in kind.commands(path):
            if command not in undisturbed:
                shutil.rmtree(root / "new-capture", ignore_errors=True)
                done = interpreter.run(root, SCRIPT, *command)
                if done.returncode:
                    raise RuntimeError(f"{' '.join(command)} fails undisturbed: {done.stderr[-600:]}")
                undisturbed.add(command)
            shutil.rmtree(root / "new-capture", ignore_errors=True)
            path.write_bytes(changed(path, chance))
            try:
                done = interpreter.run(root, SCRIPT, *command)
            finally:
                odd = path.read_bytes()
                path.write_bytes(content)
            outcome, why = judged(path, done.returncode, done.stdout, done.stderr)
            counts[outcome] += 1
            if why:
                kept = Path(tempfile.gettempdir()) / f"soak-{path.stem}-{abs(hash(state)) % 10**8}{path.suffix}"
                kept.write_bytes(odd)
                wrong.append(f"{path.name}: {' '.join(command[:2])}: {why} (the file is kept as {kept})")
    return counts, wrong


def judged(path: Path, code: int, output: str, errors: str) -> tuple[str, str]:
    """How a command on a damaged file ended (`accepted`, `told`, or what is amiss), and in that case the words."""
    last = errors.strip().splitlines()[-1:] or [""]
    if "Traceback (most recent call last)" in errors:
        return "traceback", last[0][:300]
    if code < 0:
        return "hang", f"ended by {signal.Signals(-code).name}: no end in {SECONDS} s of the processor"
    own = CODE.search(errors)
    if own and not own[0].startswith((path.name, "tables/", "figures/", "analysis/claims/", "analysis/studies/")):
        return "code line", errors[:400].replace("\n", " | ")
    if code == 0:
        found = ODD.search(output)
        return ("nan", f"prints {found[0]!r}") if found else ("accepted", "")
    names = (path.name, path.stem, path.parent.name)
    if not any(name in errors for name in names):
        return "unnamed", errors[:300].replace("\n", " | ")
    return "told", ""
