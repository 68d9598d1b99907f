"""Steps that a build can run in worker processes: in a separate module, so that workers can import it."""

import os
import signal
from pathlib import Path

from boundpaper.build.engine import BuildOutcome, Engine
from boundpaper.build.facts import FactReader
from boundpaper.build.graph import Graph, Step
from boundpaper.build.kinds import Kind
from boundpaper.errors import DataError

NUMBERED = Kind(name="numbered", builder="engine_apart:numbered", targets=("out/{name}",), in_process=True)


def numbered(job):
    """Return the process id of the step's process, or do what the text of its file asks for."""
    text = (job.root / job.file).read_text()
    if text == "note":
        job.note("seen")
    if text == "raise":
        raise ValueError("no number")
    if text == "refuse":
        raise DataError("the number is refused")
    if text == "edit":
        (job.root / job.file).write_text("edited meanwhile")
    if text == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return {f"out/{job.name}": str(os.getpid())}


def build(root: Path, jobs: int = 2) -> tuple[BuildOutcome, list[str], set[int]]:
    """Build a step for each text file in a folder; return outcome, notes, and ids of the processes involved."""
    files = {f"numbered:{path.stem}": path for path in sorted(root.glob("*.txt"))}
    steps = {
        key: Step(key=key, kind=NUMBERED, name=path.stem, file=path.name, inputs=(path.name,))
        for key, path in files.items()
    }
    notes: list[str] = []
    report = lambda event, key, text: notes.append(f"{key}: {text}") if event == "note" else None  # noqa: E731
    engine = Engine(root, Graph(steps, {}, ()), FactReader(root), report, jobs)
    with engine.workers:
        outcome = engine.build(steps)
    return outcome, notes, {int(path.read_text()) for path in (root / "out").glob("*") if path.is_file()}
