"""Kill every command at seeded moments in a small paper, and run it again: outputs must equal an undisturbed run's.

Other faults are unfinished files, temporary files, locks and processes left behind, a traceback, and an exit more than
a second after Ctrl-C. Most commands run in forks of a process that has imported all modules, so that kills hit the work
of the command. Every fourth command is a new process, so that kills also hit its imports.
"""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from . import frame
from .forks import Ended, Forks, Running, began, outliving

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LATE = 1.0  # an exit later than this many seconds after Ctrl-C is a fault
IGNORED = (".git", ".jobs", "out/state", "out/logs", "out/aside", "out/population/jobs")  # not compared
FRESH = 0.25  # fraction of the kills that hit a new process
_SECONDS = re.compile(rb'"(seconds|created|hash|blake2)": [^,}]*,?')
_CAPTURE = ("capture", "--model", "own-model", "--texts", "texts.jsonl", *frame.CAPTURE)
_HEADS = ("heads", "capture", "--bins", "2", "--min-queries", "4", "--name", "own")
_LBP = tuple("bench lbp --model own --name own --predictions predictions.jsonl --data samples.jsonl".split())
_PAIR = tuple(
    ("run", "sinks", "--model", model, "--documents", "6", "--tokens", "32", "--device", "cpu", "--name", name)
    for model, name in (("tiny-rope", "with"), ("tiny-drope", "without"))
)
_LAB = ("lab", "population", "--seed", "1", "--base", "400", "--arm", "A")
_DISTIL = ("lab", "distil", "--model", "packages/keyquery/src/keyquery/tiny/tiny-rope", "--steps", "2", "--arm", "nope")
WATCH = "watch"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check",), ("claims",), ("analyze",), ("table", "bean_heights"), ("figure", "bean_growth"),
    ("chapter", "introduction"), ("paper",), ("site",), ("bundle",), ("publish",), ("diff", "HEAD"),
    ("diff", "HEAD", "--pdf"), ("claims", "--check"), ("trace", "18.4"), ("annotate", "copies"),
    ("audit", "copies/lamps.md", "--format", "html", "-o", "out/audit.html"), ("docx",), ("html",),
    ("zip", "--arxiv"), ("flatten", "-o", "../plain"), ("new", "../begun"), ("vendor", "."),
    (*_CAPTURE, "--out", "made"), (*_CAPTURE, "--jobs", "2", "--out", "made"),
    (*_HEADS, "-j", "1"), (*_HEADS, "-j", "2"),
    ("run", "vocabulary", "--model", "own-model", "--documents", "2", "--device", "cpu"),
    ("compare", "with", "without", "--report", "out/report"), ("exhibits", "sinks"), ("clean",),
    (*_LBP, "--lengths", "8k", "--partial"),
    ("bench", "ruler", "--model", "tiny-bytes", "--results", "results.json", "--lengths", "4k", "--partial"),
    (WATCH, "table", "bean_heights"),
)  # fmt: skip
OF_LATEX: tuple[tuple[str, ...], ...] = (("init",),)
OF_ADOPTED: tuple[tuple[str, ...], ...] = (
    ("build",), ("lint", "--fix"), ("flatten", "--output", "../plain"), ("flatten", "--in-place"),
    ("zip", "--overleaf-upload"),
)  # fmt: skip
OF_THESIS: tuple[tuple[str, ...], ...] = (_LAB, *([_DISTIL] if Path("/usr/share/doc/anarchism").is_dir() else []))
"""Commands of the thesis; `lab distil` only if the Debian package anarchism, its training text, is installed."""


@dataclass
class Tally:
    """Outcomes of one command: kills by signal, late exits and the slowest exit after Ctrl-C, and faults."""

    command: str
    iterations: int = 0
    kills: dict[signal.Signals, int] = field(default_factory=lambda: dict.fromkeys(SIGNALS, 0))
    late: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)


@dataclass
class Sandbox:
    """A pristine project, the folder for working copies of it, and the process that forks the commands."""

    pristine: Path
    work: Path
    scratch: Path
    forks: Forks

    @property
    def root(self) -> Path:
        """Return the folder of the copy in which commands run. Commands write nothing outside its parent."""
        return self.work / "paper"

    def restore(self) -> None:
        """Replace the copy by a new one, and delete all other files that commands wrote."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.pristine, self.root, symlinks=True)

    @contextmanager
    def running(self, command: Sequence[str], *, fresh: bool) -> Iterator[Running]:
        """Start a command in a forked process or, if `fresh`, in a new process; end it after the block."""
        if not fresh:
            with self.forks.running(*command) as running:
                yield running
            return
        printed = [self.scratch / f"{name}.printed" for name in ("out", "err")]
        with printed[0].open("w") as output, printed[1].open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "build.py", *command],
                cwd=self.root,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )

        since = began(process.pid)

        def wait() -> dict[str, float]:
            code = process.wait()
            return {"code": code, "seconds": 0.0, "orphans": outliving(process.pid, self.work, since)}

        running = Running(process.pid, printed, wait)
        try:
            yield running
        finally:
            if running.ended is None:
                process.kill()
                running.end()


def _result_hashes(root: Path) -> dict[str, str]:
    """Return hashes of the files below a folder; skip `IGNORED` files, times in JSON, and values in manifests."""
    hashes = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or "__pycache__" in name or any(f"/{folder}/" in f"/{name}/" for folder in IGNORED):
            continue
        content = path.read_bytes()
        if path.suffix == ".json" and "manifest" not in name:
            content = _SECONDS.sub(b"", content)
        elif path.name == "manifest.json":
            content = json.dumps(sorted(json.loads(content))).encode()
        hashes[name] = hashlib.sha256(content).hexdigest()
    return hashes


def run(project: Path, kills: int, seed: int, only: Sequence[str] = ()) -> Iterator[Tally]:
    """Kill each command, or those that begin with a text of `only`, `kills` times; yield a tally per command."""
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    scratch = folder / "scratch"
    scratch.mkdir()
    os.environ |= {"TMPDIR": str(scratch), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    tempfile.tempdir = None
    try:
        for make, commands in (
            (frame.latex, OF_LATEX),
            (frame.adopted, OF_ADOPTED),
            (frame.paper, COMMANDS),
            (frame.thesis, OF_THESIS),
        ):
            chosen = [words for words in commands if not only or " ".join(words).startswith(tuple(only))]
            if chosen:
                yield from _kill_commands(make, project, folder / make.__name__, scratch, chosen, kills, seed)
    finally:
        shutil.rmtree(folder)


def _kill_commands(
    make: Callable[[Path, Path], Path],
    project: Path,
    folder: Path,
    scratch: Path,
    commands: Sequence[tuple[str, ...]],
    kills: int,
    seed: int,
) -> Iterator[Tally]:
    folder.mkdir()
    sandbox = Sandbox(folder / "pristine", folder / "work", scratch, Forks(folder / "work/paper"))
    make(project, sandbox.pristine)
    try:
        if make is frame.paper:
            sandbox.restore()
            for first in (("analyze",), (*_CAPTURE, "--out", "capture"), *_PAIR):
                _undisturbed(sandbox.forks.run(*first), first)
            shutil.rmtree(sandbox.pristine)
            shutil.copytree(sandbox.root, sandbox.pristine, symlinks=True)
            frame.commit(sandbox.pristine)  # the paper prints whether its files are committed
        for command in commands:
            chance = random.Random(f"{seed} {' '.join(command)}")
            yield (
                _kill_watch(sandbox, command, kills, chance)
                if command[0] == WATCH
                else _kill_command(sandbox, command, kills, chance)
            )
    finally:
        sandbox.forks.end()


def _undisturbed(ended: Ended, command: Sequence[str]) -> None:
    if ended.code or ended.orphans:
        raise RuntimeError(f"{' '.join(command)} fails without a kill, or leaves a process: {ended.errors[-600:]}")


def _kill_command(sandbox: Sandbox, command: tuple[str, ...], kills: int, chance: random.Random) -> Tally:
    tally = Tally(" ".join(command))
    sandbox.restore()
    start = time.monotonic()
    _undisturbed(sandbox.forks.learn(*command), command)
    run_seconds = {True: time.monotonic() - start}  # wall seconds of a run, by whether it needs a new process
    sandbox.restore()
    start = time.monotonic()
    _undisturbed(sandbox.forks.run(*command), command)
    run_seconds[False], undisturbed = time.monotonic() - start, _result_hashes(sandbox.work)
    before = {path.name for path in sandbox.scratch.iterdir()}  # caches of libraries
    while sum(tally.kills.values()) < kills and tally.iterations < 5 * kills:
        sandbox.restore()
        where = f"{tally.command}, iteration {tally.iterations}"
        for _ in range(chance.randrange(1, 3)):
            fresh = chance.random() < FRESH
            with sandbox.running(command, fresh=fresh) as running:
                time.sleep(run_seconds[fresh] * chance.random())
                _kill(tally, running, chance.choice(SIGNALS), where)
        _finish(tally, sandbox, command, undisturbed, where)
        tally.iterations += 1
    if left := [
        path.name for path in sandbox.scratch.iterdir() if path.name not in before and path.suffix != ".printed"
    ]:
        tally.faults.append(f"{tally.command}: left in the folder of temporary files: {', '.join(left[:4])}")
    return tally


def _kill(tally: Tally, running: Running, kill_signal: signal.Signals, where: str) -> None:
    """Send a signal to a running command, and wait for its end."""
    if not running.runs():
        return
    start = time.monotonic()
    os.kill(running.pid, kill_signal)
    while running.runs():
        time.sleep(0.005)
    seconds = time.monotonic() - start
    ended = running.end()
    tally.kills[kill_signal] += 1
    if kill_signal == signal.SIGINT:
        tally.slowest = max(tally.slowest, seconds)
        tally.late += seconds > LATE
    if "Traceback (most recent call last)" in ended.errors:
        tally.faults.append(f"{where}, {kill_signal.name}: {ended.errors.strip()[-300:]}")
    if ended.orphans:
        tally.faults.append(f"{where}, {kill_signal.name}: {ended.orphans} processes outlive it")


def _finish(tally: Tally, sandbox: Sandbox, command: Sequence[str], undisturbed: dict[str, str], where: str) -> None:
    """Run a killed command to its end, and compare its output with that of an undisturbed run."""
    ended = sandbox.forks.run(*command)
    if "another build" in ended.errors + ended.output:
        tally.faults.append(f"{where}: a lock is left behind: {ended.errors[-200:]}")
    after = _result_hashes(sandbox.work)
    complete = "is not empty" in ended.errors and after == undisturbed  # the killed run had already written the folder
    if ended.code and not complete:
        tally.faults.append(f"{where}: {ended.errors[-300:]}")
    elif after != undisturbed:
        differing = sorted(name for name in {*after, *undisturbed} if after.get(name) != undisturbed.get(name))
        tally.faults.append(f"{where}: differs from an undisturbed run: {', '.join(differing[:4])}")
    if ended.orphans:
        tally.faults.append(f"{where}: {ended.orphans} processes outlive the command that ended by itself")
    if left := [path.name for path in sandbox.work.rglob(".*.part")]:
        tally.faults.append(f"{where}: left {left}")


def _kill_watch(sandbox: Sandbox, command: tuple[str, ...], kills: int, chance: random.Random) -> Tally:
    """Kill `watch` during its first build or after a file is saved; then build its targets to the end."""
    tally, built = Tally(" ".join(command)), command[1:]
    sandbox.restore()
    source = sandbox.root / "artifacts/sources/bean_heights.csv"
    _undisturbed(sandbox.forks.learn(*built), built)
    source.write_text(source.read_text().replace("12.1", "12.3"))
    _undisturbed(sandbox.forks.run(*built), built)
    undisturbed = _result_hashes(sandbox.work)
    while sum(tally.kills.values()) < kills and tally.iterations < 5 * kills:
        sandbox.restore()
        with sandbox.running(command, fresh=True) as running:
            time.sleep(3 * chance.random())
            source.write_text(source.read_text().replace("12.1", "12.3"))
            time.sleep(2 * chance.random())
            _kill(tally, running, chance.choice(SIGNALS), f"{tally.command}, iteration {tally.iterations}")
        _finish(tally, sandbox, built, undisturbed, f"{tally.command}, iteration {tally.iterations}")
        tally.iterations += 1
    return tally
