"""Open a project for building: hold its lock, and show progress on the terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from boundpaper.build.engine import BuildOutcome, Engine
from boundpaper.build.facts import FactReader
from boundpaper.build.graph import Step, load
from boundpaper.build.job import Job
from boundpaper.build.lock import lock
from boundpaper.build.pool import rare_collection
from boundpaper.build.unchanged import FileStamps
from boundpaper.errors import ThesisError
from boundpaper.store.files import remove_drafts
from boundpaper.typeset.armour import plain
from boundpaper.typeset.plural import counted

LOCK = "out/state/lock"
PROGRESS_SECONDS = 1.0
"""Seconds after which a build shows progress and a final summary."""


class Session:
    """A project's graph and engine.

    `jobs` is the number of processes at a time, 0 for the number of cores; `reserved` of them are not for workers. With
    `debug`, failures show their traceback. `stamps` are the project's file stamps, to be saved after a build; if None,
    none are saved.
    """

    def __init__(
        self, root: Path, jobs: int = 0, debug: bool = False, stamps: FileStamps | None = None, reserved: int = 0
    ) -> None:
        self.root, self.debug, self._stamps = root, debug, stamps
        reader = FactReader(root, root / "out/state/facts.json")
        self.graph = load(root, reader)
        self.progress = Progress()
        self.engine = Engine(root, self.graph, reader, self.progress.report, jobs, reserved)

    @classmethod
    @contextmanager
    def opened(cls, root: Path, jobs: int = 0, debug: bool = False, reserved: int = 0) -> Iterator[Session]:
        """Open a session that holds the build lock; a second build waits until the first ends."""
        build_lock = lock(root / LOCK, lambda holder: say(f"another build ({holder}) is running; waiting for it"))
        with build_lock, rare_collection():
            for folder in ("out", "artifacts/results"):
                remove_drafts(root / folder)
            session = cls(root, jobs, debug, FileStamps(root, root / LOCK), reserved)
            with session.engine.workers:
                yield session

    def build(self, targets: Sequence[str]) -> BuildOutcome:
        """Build `targets`; if a step failed, print every failure and raise ThesisError."""
        keys = set(self.graph.order(targets))
        step_faults = {line for key in keys for line in self.graph.steps[key].fault.splitlines()}  # errors below
        for fault in self.graph.faults:
            if fault not in step_faults:
                say(f"warning: {fault}")
        for step in self.graph.steps.values():
            if step.fault and step.key not in keys:
                say(f"warning: {step.fault.splitlines()[0]}")
        with self.progress.shown(len(keys)):
            outcome = self.engine.build(targets)
        if outcome.failed:
            for key, error in outcome.failed.items():
                say(f"{key}: {error}")
                if self.debug:
                    traceback.print_exception(error)
            left_out = _left_out_sentence(len(outcome.left_out), len(outcome.failed))
            raise ThesisError(f"{len(outcome.failed)} of {counted(len(keys), 'step')} failed{left_out}")
        if self.progress.seconds > PROGRESS_SECONDS and sys.stderr.isatty():
            say(f"{len(outcome.built)} of {counted(len(keys), 'step')} built in {self.progress.seconds:.1f} s")
        if self._stamps and not self.graph.faults and not any(step.fault for step in self.graph.steps.values()):
            self._stamps.keep(keys, [self.engine.state.steps[key] for key in keys])
        return outcome

    def job(self, step: Step) -> Job:
        """Return the job of a step, to call its function outside a build."""
        return Job(
            self.root, step.kind.name, step.name, step.file, step.function, step.artifacts, step.inputs, step.line
        )

    def why(self, key: str) -> list[str]:
        """Return lines on what would be built for `key` and why, dependencies first; steps never built share a line."""
        never_built, lines, due_keys = [], [], set()
        for name in self.graph.order([key]):
            step = self.graph.steps[name]
            reasons = [step.fault] if step.fault else self.engine.reasons(step)
            due_needs = [need for need in step.needs if need in due_keys]
            if reasons == ["never built here"]:
                never_built.append(name)
            elif reasons:
                lines += [f"{name}: {reason}" for reason in reasons]
            elif due_needs:
                lines.append(f"{name}: only if {due_needs[0]} changes")
            else:
                continue
            due_keys.add(name)
        more = f" and {len(never_built) - 4} more" if len(never_built) > 4 else ""
        return ([f"never built here: {', '.join(never_built[:4])}{more}"] if never_built else []) + lines


def clean_out(root: Path) -> bool:
    """Remove `out/` while holding its lock; return whether it existed.

    Raises ThesisError when `out` is a link or not a folder, or when a file in it cannot be removed.
    """
    out = root / "out"
    if out.is_symlink():
        raise ThesisError(f"out: is a link to {out.readlink()}; remove that folder, or the link, yourself")
    if not out.exists():
        return False
    if not out.is_dir():
        raise ThesisError("out: is not a folder; remove it yourself")
    with lock(root / LOCK, lambda holder: say(f"a build ({holder}) is running; waiting for it")):
        try:
            shutil.rmtree(out)
        except OSError as error:
            raise ThesisError(f"{error.filename}: cannot be removed ({error.strerror}); remove it yourself") from error
    return True


def say(text: str) -> None:
    """Print a line to standard error."""
    print(plain(text), file=sys.stderr, flush=True)


class Progress:
    """A progress bar, shown on a terminal once a build has taken a second."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._total, self._done, self._start, self._step = 0, 0, 0.0, ""
        self._notes: list[str] = []
        self._rewritten: list[str] = []

    @property
    def seconds(self) -> float:
        """Return how long the build has taken, in seconds."""
        return time.monotonic() - self._start

    @contextmanager
    def shown(self, total: int) -> Iterator[None]:
        """Show progress over `total` steps while the block runs."""
        self._total, self._done, self._start = total, 0, time.monotonic()
        timer = threading.Timer(PROGRESS_SECONDS, self._show_bar)
        timer.daemon = True
        if sys.stderr.isatty():
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if timer.ident:
                timer.join()
            if self._bar:
                self._bar.stop()
                self._bar = None
            for note in [*self._notes, *_edits_sentence(self._rewritten)]:
                say(note)
            self._notes.clear()
            self._rewritten.clear()

    def report(self, event: str, key: str, text: str) -> None:
        """Show an event that the engine reports."""
        if event == "note":
            self._notes.append(f"note: {key}: {text}")
        if event == "rewritten":
            self._rewritten.append(text)
        if event in ("built", "fresh", "failed", "left out"):
            self._done += 1
        self._step = key
        if self._bar:
            self._bar.update(self._task, completed=self._done, description=key)

    def _show_bar(self) -> None:
        """Show the bar; a timer calls this, since a long step reports nothing while it runs."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._step, total=self._total, completed=self._done)
        bar.start()
        self._bar = bar


def _left_out_sentence(count: int, failed: int) -> str:
    if not count:
        return ""
    verbs = ("needs", "was") if count == 1 else ("need", "were")
    return f"; {counted(count, 'step')} that {verbs[0]} {'it' if failed == 1 else 'them'} {verbs[1]} left out"


def _edits_sentence(paths: Sequence[str], most: int = 3) -> list[str]:
    """Return one line that names the outputs edited by hand and built again; empty if there are none."""
    if not paths:
        return []
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    subject = "it was" if len(paths) == 1 else "they were"
    return [f"note: {', '.join(paths[:most])}{more} changed since {subject} last built; built again"]
