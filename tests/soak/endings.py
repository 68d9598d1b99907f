"""Every command killed at seeded moments in a small paper: the next one makes what an undisturbed one makes.

Amiss are also drafts and temporary files that stay, and a traceback. The time is taken from a Ctrl-C to the end.
"""

from __future__ import annotations

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak import frame

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LATE = 5.0  # seconds from a Ctrl-C after which its end is late, on a machine that does other things as well
ASIDE = (".git", ".jobs", "out/state", "out/logs", "out/aside")  # how something was made, not what
_SECONDS = re.compile(rb'"(seconds|created|hash|blake2)": [^,}]*,?')
_MADE = ("capture", "--model", "own-model", "--texts", "texts.jsonl", *frame.CAPTURE)
_HEADS = ("heads", "capture", "--bins", "2", "--min-queries", "4", "--name", "own")
_LBP = (
    "bench",
    "lbp",
    "--model",
    "own",
    "--name",
    "own",
    "--predictions",
    "predictions.jsonl",
    "--data",
    "samples.jsonl",
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check",),
    ("claims",),
    ("analyze",),
    ("table", "bean_heights"),
    ("figure", "bean_growth"),
    ("chapter", "introduction"),
    ("paper",),
    ("site",),
    ("bundle",),
    ("publish",),
    ("diff", "HEAD"),
    ("claims", "--check"),
    ("trace", "18.4"),
    ("new", "paper", "../begun"),
    (*_MADE, "--out", "made"),
    (*_MADE, "--jobs", "2", "--out", "made"),
    (*_HEADS, "-j", "1"),
    (*_HEADS, "-j", "2"),
    ("run", "vocabulary", "--model", "own-model", "--documents", "2", "--device", "cpu"),
    (*_LBP, "--lengths", "8k", "--partial"),
    ("bench", "ruler", "--model", "tiny-bytes", "--results", "results.json", "--lengths", "4k", "--partial"),
)


@dataclass
class Tally:
    """What became of one command: iterations, kills by signal, late ends after a Ctrl-C, and what is amiss."""

    command: str
    iterations: int = 0
    kills: dict[signal.Signals, int] = field(default_factory=lambda: dict.fromkeys(SIGNALS, 0))
    late: int = 0
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)


def _begin(root: Path, command: Sequence[str], scratch: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "build.py", *command],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch), "HF_HUB_OFFLINE": "1"},
        start_new_session=True,
    )


def _made(root: Path) -> dict[str, str]:
    """Hashes of all that lies in a folder, but of how it was made; times that a manifest tells are left out."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or "__pycache__" in name or any(f"/{name}/".find(f"/{part}/") >= 0 for part in ASIDE):
            continue
        content = path.read_bytes()
        if path.suffix == ".json" and "manifest" not in name:
            content = _SECONDS.sub(b"", content)
        elif path.name == "manifest.json":
            content = json.dumps(sorted(json.loads(content))).encode()
        found[name] = hashlib.sha256(content).hexdigest()
    return found


def run(project: Path, iterations: int, seed: int, only: Sequence[str] = ()) -> Iterator[Tally]:
    """For each command, or those whose words begin with one of `only`: what its kills did."""
    chance = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        pristine = frame.paper(project, folder / "pristine")
        warm = _begin(pristine, (*_MADE, "--out", "capture"), folder)
        _, errors = warm.communicate()
        if warm.returncode:
            raise RuntimeError(f"capture fails undisturbed: {errors[-600:]}")
        _begin(pristine, ("analyze",), folder).communicate()
        frame.commit(
            pristine
        )  # with its results, or the edition of the paper would tell the second build from the first
        for command in COMMANDS:
            if not only or any(" ".join(command).startswith(word) for word in only):
                yield _killed(pristine, folder, command, iterations, chance)
    finally:
        shutil.rmtree(folder)


def _fresh(pristine: Path, folder: Path) -> Path:
    """A copy of the paper, and nothing beside it."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(pristine, work / "paper", symlinks=True)
    return work / "paper"


def _killed(pristine: Path, folder: Path, command: tuple[str, ...], iterations: int, chance: random.Random) -> Tally:
    tally, scratch = Tally(" ".join(command)), folder / "scratch"
    scratch.mkdir(exist_ok=True)
    root = _fresh(pristine, folder)
    start = time.monotonic()
    first = _begin(root, command, scratch)
    _, errors = first.communicate()
    whole, undisturbed = time.monotonic() - start, _made(root.parent)
    known = {path.name for path in scratch.iterdir()}  # caches that libraries keep among the temporary files
    if first.returncode:
        raise RuntimeError(f"{tally.command} fails undisturbed: {errors[-600:]}")
    for number in range(iterations):
        root = _fresh(pristine, folder)
        for _ in range(chance.randrange(1, 3)):
            running = _begin(root, command, scratch)
            time.sleep(whole * chance.random())
            how = chance.choice(SIGNALS)
            if running.poll() is not None:
                running.communicate()
                continue
            start = time.monotonic()
            running.send_signal(how)
            _, errors = running.communicate()
            seconds = time.monotonic() - start
            tally.kills[how] += 1
            if how == signal.SIGINT:
                tally.slowest = max(tally.slowest, seconds)
                tally.late += seconds > LATE
            if "Traceback (most recent call last)" in errors:
                tally.wrong.append(f"{tally.command}, iteration {number}, {how.name}: {errors.strip()[-200:]}")
        again = _begin(root, command, scratch)
        _, errors = again.communicate()
        tally.iterations += 1
        place = f"{tally.command}, iteration {number}"
        if again.returncode and not (command[0] == "new" and (root.parent / "begun/build.py").exists()):
            tally.wrong.append(f"{place}: {errors[-300:]}")
        elif again.returncode == 0 and (after := _made(root.parent)) != undisturbed:
            differing = sorted(name for name in {*after, *undisturbed} if after.get(name) != undisturbed.get(name))
            tally.wrong.append(f"{place}: another outcome than undisturbed: {', '.join(differing[:4])}")
        if left := [path.name for path in root.parent.rglob(".*.part")]:
            tally.wrong.append(f"{place}: left {left}")
    left = [path.name for path in scratch.iterdir() if path.name not in known]
    if left:
        tally.wrong.append(f"{tally.command}: left in the folder of temporary files: {', '.join(left[:4])}")
        shutil.rmtree(scratch)
    return tally
