"""Damage files of every kind that a user provides, run commands that read them, and judge output and exit status.

The following are faults: a traceback, a line of the engine's code, a Python warning, a hang, an exit status other than
0, 1 and 2, a printed NaN or infinity, an error that does not name the file or has many lines, a process or unfinished
file left behind, and an accepted file that is malformed, does not match its hash, or changes an output that it must
not change.
"""

import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from boundpaper.paper import looks

from . import frame
from .damage import broken, changed
from .forks import SECONDS, Ended, Forks

OUTCOMES = (
    *("told", "accepted", "silent", "unnamed", "long", "code line", "warning", "nan", "traceback", "hang", "status"),
    "left",
)
"""`told` (an error of at most `LINES` lines names the file) and `accepted` are no faults."""
LINES, LENGTH = 6, 1200  # maximum lines of an error that do not name the file, and maximum characters of a line
CODE = re.compile(r"\b[\w/]+\.py:\d+\b[^\n]*(?:Error|Exception)\b|\(\w+\.py:\d+\)")
WARNING = re.compile(r"^.*\.py:\d+: \w*Warning\b.*$", re.MULTILINE)
NOT_FINITE = re.compile(r"(?<![\w.-])(?:nan|-?inf(?:inity)?)(?![\w-])", re.IGNORECASE)
EXHIBITS = (
    "tables/", "figures/", "analysis/claims/", "analysis/studies/", "analysis/experiments/", "keyquery/experiments/",
)  # fmt: skip
CHECK = ("check",)
SURVEY = tuple("run sinks --model tiny-rope --documents 1 --tokens 32 --device cpu --name own --replace".split())


@dataclass(frozen=True)
class Kind:
    """A kind of file: sample files, and the commands that read such a file.

    One of the commands is chosen at random. An error must contain one of the names that `named` returns. For a
    `sealed` file, which has a stored hash, a command must report any changed value. For a `cached` file, a change
    must not change the output. `share` scales the number of damaged files, below 1 for slow commands. `before` is
    called before each run.
    """

    files: Sequence[Path]
    commands: Callable[[Path], Sequence[tuple[str, ...]]]
    named: Callable[[Path], Sequence[str]] = lambda path: (path.name, path.stem)
    sealed: bool = False
    cached: bool = False
    share: float = 1.0
    before: Callable[[], None] = lambda: None


@dataclass
class Tally:
    """Outcomes of the damaged files of one kind: counts, CPU seconds, and faults."""

    kind: str
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def _of_folder(path: Path) -> Sequence[str]:
    """Return the names that an error may use for a file if the command takes its folder."""
    return (path.name, path.parent.name)


def kinds(paper: Path, thesis: Path, seed: int) -> dict[str, Kind]:
    """Return kinds of files by name: files of the small paper, and data tables that exhibits of the thesis read."""

    def always(*commands: tuple[str, ...]) -> Callable[[Path], Sequence[tuple[str, ...]]]:
        return lambda path: commands

    exhibit = _exhibits(thesis)
    chance = random.Random(f"{seed} tables")
    sources = [path for path in sorted((thesis / "artifacts/sources").glob("*.csv")) if exhibit(path)]
    measured = [path for path in sorted((thesis / "artifacts/measurements").glob("*/*.[cp]*")) if exhibit(path)]
    measured = chance.sample(measured, min(20, len(measured)))
    to_new_folder = (*frame.CAPTURE, "--out", "new-capture")
    capture = ("capture", "--model", "own-model", "--texts", "texts.jsonl", *to_new_folder)
    heads = ("heads", "capture", "--bins", "2", "--min-queries", "4", "-j", "1", "--name", "own", "--replace")
    ruler = ("bench", "ruler", "--model", "tiny-bytes", "--name", "own", "--results", "results.json", "--replace")
    lbp = ("bench", "lbp", "--model", "own", "--name", "own", "--predictions", "predictions.jsonl", "--replace")
    table, figure, claims = ("table", "bean_heights"), ("figure", "bean_growth", "--format", "tex"), ("claims",)
    model, base = paper / "own-model", paper / "artifacts"
    tokenizer = [model / name for name in ("tokenizer.json", "tokenizer_config.json")]
    caches = sorted(path for path in (thesis / "out/experiments").rglob("*") if path.suffix in (".npz", ".json"))

    def stop_capture() -> None:
        shutil.rmtree(paper / "stopped-capture", ignore_errors=True)
        shutil.copytree(paper / "kept-capture", paper / "stopped-capture")

    stop_capture()
    own_looks = [paper / looks.OWN_TEMPLATE, paper / looks.OWN_PREAMBLE]
    own_looks[0].write_text(looks.template(paper)[1])
    own_looks[1].write_text("\\usepackage{amsmath}\n\\newcommand*{\\lamp}[1]{\\emph{#1}}\n")

    return {
        "sources": Kind(
            chance.sample(sources, min(20, len(sources))), exhibit, lambda path: (path.name, path.stem, "; it reads ")
        ),
        "measurements": Kind(measured, exhibit, _measured, sealed=True),
        "manifests": Kind([path.with_suffix(".json") for path in measured], exhibit, _measured),
        "own sources": Kind([base / "sources/bean_heights.csv"], always(CHECK, claims, table, figure)),
        "own documents and places": Kind(
            [base / f"sources/{name}.csv" for name in ("places", "documents")], always(CHECK)
        ),
        "own measurements": Kind(
            sorted((base / "measurements").glob("head_*/own.[cp]*")), always(CHECK), _measured, sealed=True
        ),
        "own manifests": Kind(sorted((base / "measurements").glob("head_*/own.json")), always(CHECK), _measured),
        "datapackage": Kind(
            [base / "datapackage.yaml"], always(CHECK, table, claims), lambda path: (path.name, "artifacts/sources/")
        ),
        "metadata and layout": Kind(
            [paper / "paper/metadata.yaml", *(paper / "paper").glob("layout.yaml")],
            always(CHECK, ("paper",)),
            share=0.6,
        ),
        "citation": Kind([paper / "CITATION.cff"], always(("publish",)), share=0.4),
        "chapters": Kind(
            [paper / "paper/chapters/introduction.tex.j2"], always(("paper",), ("chapter", "introduction")), share=0.8
        ),
        "template and preamble": Kind(own_looks, always(("paper",)), share=0.6),
        "references": Kind([paper / "paper/references.bib"], always(("paper",), ("site",)), share=0.6),
        "exhibits": Kind(
            [paper / "tables/bean_heights.py", paper / "figures/bean_growth.py"],
            lambda path: (table,) if path.parent.name == "tables" else (figure,),
        ),
        "claims": Kind(sorted((paper / "analysis/claims").glob("[a-z]*.py")), always(claims), _of_folder),
        "experiments": Kind(
            [paper / "analysis/experiments/vocabulary.py"], always(("run", "--recipe", "recipe.yaml", "--replace"))
        ),
        "copies of documents": Kind([paper / "copies/lamps.md"], always(("annotate", "copies")), _of_folder, share=0.6),
        "recipes": Kind([paper / "recipe.yaml"], always(("run", "--recipe", "recipe.yaml", "--replace"))),
        "state": Kind(
            [paper / f"out/state/{name}.json" for name in ("state", "facts", "unchanged")],
            always(table, claims),
            cached=True,
        ),
        "surveys": Kind(caches, always(SURVEY), cached=True, share=0.6),
        "safetensors": Kind([model / "model.safetensors"], always(capture), _of_folder),
        "model configuration": Kind([model / "config.json"], always(capture), _of_folder),
        "tokenizers": Kind(tokenizer, always(capture), _of_folder),
        "gguf": Kind([paper / "own.gguf"], always(("capture", "--model", "own.gguf", *capture[3:]))),
        "captures": Kind(
            [*(paper / "capture").glob("*.json"), *(paper / "capture").rglob("*.parquet")], always(heads), _of_folder
        ),
        "parts of captures": Kind(
            sorted((paper / "stopped-capture").rglob("*.npz")),
            always((*capture[:-1], "stopped-capture")),
            _of_folder,
            before=stop_capture,
        ),
        "results of lm-eval": Kind([paper / "results.json"], always((*ruler, "--lengths", "4k", "--partial"))),
        "predictions": Kind(
            [paper / "predictions.jsonl", paper / "samples.jsonl"],
            always((*lbp, "--data", "samples.jsonl", "--lengths", "8k", "--partial")),
        ),
        "texts": Kind(
            [paper / name for name in ("texts.jsonl", "text.txt", "texts.csv", "texts.tsv")],
            lambda path: [("capture", "--model", "own-model", "--texts", path.name, *to_new_folder)],
        ),
    }


def _measured(path: Path) -> Sequence[str]:
    """Return the names that an error may use for a measurement: its file name, or its table and name."""
    return (path.name, f"{path.parent.name}/{path.stem}")


def _exhibits(thesis: Path) -> Callable[[Path], Sequence[tuple[str, ...]]]:
    """Return a function that gives, for a data file of the thesis, commands that make up to three tables from it."""
    from boundpaper.build.facts import FactReader
    from boundpaper.build.graph import load

    graph = load(thesis, FactReader(thesis))
    tables = {key: set(graph.order([key])) for key, step in graph.steps.items() if step.kind.name == "table"}

    def exhibit(path: Path) -> Sequence[tuple[str, ...]]:
        relative = path.relative_to(thesis / "artifacts")
        name = relative.stem if relative.parts[0] == "sources" else relative.parts[1]
        readers = [key for key, needs in tables.items() if {f"source:{name}", f"measurement:{name}"} & needs]
        near = sorted(readers, key=lambda key: (len(tables[key]), key))[:3]
        return [("table", key.partition(":")[2]) for key in near if len(tables[key]) < 12]

    return exhibit


def _papers(project: Path, folder: Path) -> tuple[Path, Path]:
    """Write the small paper and a copy of the thesis without outputs; return both folders.

    The paper has a GGUF model if the package gguf is installed.
    """
    paper = frame.paper(project, folder / "paper")
    thesis = folder / "thesis"
    ignored = shutil.ignore_patterns("out", ".*", "golden", "__pycache__")
    shutil.copytree(project, thesis, ignore=ignored)
    if find_spec("gguf"):  # without the gguf package, this kind is skipped
        sys.path.insert(0, str(project / "packages/keyquery/tests/support"))
        import gguf_made

        gguf_made.made(paper / "own.gguf")
    return paper, thesis


class Soak:
    """The two papers, one process per paper that forks its commands, and the kinds of files."""

    def __init__(self, project: Path, folder: Path, seed: int) -> None:
        os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TMPDIR": str(folder / "scratch")}
        (folder / "scratch").mkdir()
        self.seed = seed
        self.paper, self.thesis = _papers(project, folder)
        python = [self.paper / name for name in ("tables", "figures", "analysis/claims", "analysis/experiments")]
        forks = Forks(self.paper, [path for room in python for path in room.rglob("*.py")])
        self.forks = {self.paper: forks, self.thesis: Forks(self.thesis)}
        self.undisturbed: dict[tuple[str, ...], str] = {}
        for command in (
            ("analyze",),
            ("capture", "--model", "own-model", "--texts", "texts.jsonl", *frame.CAPTURE, "--out", "capture"),
            ("heads", "capture", "--bins", "2", "--min-queries", "4", "-j", "1", "--name", "own"),
            ("run", "--recipe", "recipe.yaml"),
            ("table", "bean_heights"),
            ("paper",),
        ):
            self._learn(self.paper, command)
        frame.stopped_capture(self.paper, "kept-capture")
        self._learn(self.thesis, SURVEY)
        self.kinds = kinds(self.paper, self.thesis, seed)

    def _learn(self, root: Path, command: tuple[str, ...]) -> None:
        ended = self.forks[root].learn(*command)
        if ended.code:
            raise RuntimeError(f"{' '.join(command)} fails without damage: {ended.errors[-600:]}")
        self.undisturbed[command] = ended.output

    def case(self, name: str, number: int) -> tuple[str, str, float]:
        """Damage one file of a kind and run a command that reads it; return outcome, text of the fault, and seconds.

        The same seed, kind and number give the same case.
        """
        kind, chance = self.kinds[name], random.Random(f"{self.seed} {name} {number}")
        kind.before()
        path = chance.choice(kind.files)
        root = self.thesis if path.is_relative_to(self.thesis) else self.paper
        command = chance.choice(kind.commands(path))
        shutil.rmtree(root / "new-capture", ignore_errors=True)
        if command not in self.undisturbed:
            self._learn(root, command)
            kind.before()
            shutil.rmtree(root / "new-capture", ignore_errors=True)
        content = path.read_bytes()
        damaged = changed(path, chance)
        path.write_bytes(damaged)
        try:
            ended = self.forks[root].run(*command)
        finally:
            with suppress(FileNotFoundError):  # a stopped capture that was completed has deleted its parts
                path.write_bytes(content)
        outcome, fault = judged(path, kind.named(path), ended, damaged)
        if outcome == "accepted" and damaged != content:
            if kind.sealed and _differs(path, content, damaged):
                outcome, fault = "silent", "accepted, though its hash differs"
            elif kind.cached and ended.output != self.undisturbed[command]:
                expected = self.undisturbed[command]
                outcome, fault = "silent", f"gives {ended.output[-200:]!r} instead of {expected[-200:]!r}"
            elif not kind.cached and (reason := broken(path.suffix, damaged)):
                outcome, fault = "silent", f"accepted, though its format is invalid ({reason})"
        if left := [path.name for folder in ("out", "artifacts") for path in (root / folder).rglob(".*.part")]:
            outcome, fault = "left", f"left {left[:3]}"
        return outcome, fault and f"{name}:{number} {path.name}: {' '.join(command[:2])}: {fault}", ended.seconds

    def end(self) -> None:
        """End the forking processes."""
        for forks in self.forks.values():
            forks.end()


def run(project: Path, files: int, seed: int, only: Sequence[str] = (), number: int | None = None) -> Iterator[Tally]:
    """Damage `files` files, or only case `number`, of the kinds in `only` (all if empty); yield a tally per kind."""
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    soak = Soak(project, folder, seed)
    try:
        names = [name.strip() for name in only] or [name for name, kind in soak.kinds.items() if kind.files]
        if unknown := [name for name in names if name not in soak.kinds]:
            raise SystemExit(f"no kind {unknown[0]!r}; kinds: {', '.join(soak.kinds)}")
        shares = sum(soak.kinds[name].share for name in names)
        for name in names:
            tally, count = Tally(name), round(files * soak.kinds[name].share / shares)
            for case in range(count) if number is None else (number,):
                outcome, fault, seconds = soak.case(name, case)
                tally.counts[outcome] += 1
                tally.seconds += seconds
                tally.faults += [fault] if fault else []
            yield tally
    finally:
        soak.end()
        shutil.rmtree(folder)


def _differs(path: Path, content: bytes, damaged: bytes) -> bool:
    """Return whether two contents of a table have different values, not only different formatting."""
    if path.suffix != ".parquet":
        return content.decode("utf-8-sig").split() != damaged.decode("utf-8-sig", "replace").split()
    import io

    import pandas as pd

    try:
        return not pd.read_parquet(io.BytesIO(damaged)).equals(pd.read_parquet(io.BytesIO(content)))
    except Exception:
        return True


def judged(path: Path, names: Sequence[str], ended: Ended, damaged: bytes = b"") -> tuple[str, str]:
    """Return the outcome of a command that read a damaged file, and the text of the fault, if any.

    A printed `nan` is no fault if `damaged`, the content of the file, contains it.
    """
    errors, excerpt = ended.errors, ended.errors[:400].replace("\n", " | ")
    if "Traceback (most recent call last)" in errors:
        return "traceback", (errors.strip().splitlines()[-1:] or [""])[0][:300]
    if ended.code < 0:
        return "hang", f"ended by {signal.Signals(-ended.code).name} after {ended.seconds:.0f} s of {SECONDS}"
    if ended.code not in (0, 1, 2):
        return "status", f"exit status {ended.code}: {excerpt}"
    if ended.orphans:
        return "left", f"{ended.orphans} processes outlive it"
    if (warning := WARNING.search(errors)) and f"/{path.name}:" not in warning[0]:  # Python's own warning
        return "warning", warning[0][:300]
    code = CODE.search(errors)
    if code and not code[0].startswith((path.name, *EXHIBITS)):
        return "code line", excerpt
    if ended.code == 0:
        printed = next(
            (match[0] for match in NOT_FINITE.finditer(ended.output) if match[0].encode() not in damaged), ""
        )
        return ("nan", f"prints {printed!r}") if printed else ("accepted", "")
    if not any(name in errors for name in names):
        return "unnamed", excerpt
    unnamed = [line for line in errors.strip().splitlines() if not any(name in line for name in names)]
    if len(unnamed) > LINES or max(map(len, errors.splitlines())) > LENGTH:
        return "long", f"{len(errors.splitlines())} lines: {excerpt}"
    return "told", ""
