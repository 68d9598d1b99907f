"""The engine: builds the steps whose inputs or outputs differ, by content, from those recorded when last built.

An own engine of this size was preferred to doit: doit compares targets by existence only, saves its state at the end,
runs actions in parallel as processes that import everything again, and does not notice an input that changes while its
step runs. Each of these is a promise here, and its public interface cannot give them.
"""

from __future__ import annotations

import os
import re
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path

from boundpaper.build import process
from boundpaper.build.facts import Reader, resolve
from boundpaper.build.graph import Graph, Step
from boundpaper.build.job import Job
from boundpaper.build.state import State, writable
from boundpaper.errors import MissingDependency, SpecError, ThesisError
from boundpaper.places import package_folders
from boundpaper.store.files import write
from boundpaper.store.kept import hashed

Contents = dict[str, str | bytes]
Report = Callable[[str, str, str], None]


@dataclass
class Outcome:
    """What a build did: keys of steps built, found fresh, left out because a need failed, and failures by key."""

    built: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, ThesisError] = field(default_factory=dict)


class Engine:
    """Builds steps of a graph.

    Parameters
    ----------
    root : Path
        The project's folder.
    graph : Graph
        Its steps.
    reader : Reader
        Hashes files, each once a run.
    report : callable
        Called with an event (`start`, `built`, `fresh`, `failed`, `left out`, `note`, `rewritten`), a step's key, and a
        text; of `rewritten` it is the path of an output that somebody had edited and that was built again.
    jobs : int
        How many outside programs may run at a time.
    """

    def __init__(self, root: Path, graph: Graph, reader: Reader, report: Report, jobs: int = 0) -> None:
        self.root, self.graph, self.reader, self.report = root, graph, reader, report
        self.jobs = jobs or os.cpu_count() or 1
        self.state = State(root / "out/state/state.json")
        self.outcome = Outcome()

    def build(self, targets: Iterable[str]) -> Outcome:
        """Build `targets` and what they need; independent steps go on after a failure."""
        sorter = TopologicalSorter({key: self.graph.steps[key].needs for key in self.graph.order(targets)})
        sorter.prepare()
        serial: deque[str] = deque()
        side: list[str] = []
        running: dict[Future[Contents], str] = {}
        before: dict[str, tuple[dict[str, str], float]] = {}
        pool = ThreadPoolExecutor(max_workers=self.jobs)
        process.start_again()
        try:
            self._sweep()
            while sorter.is_active():
                for key in sorter.get_ready():
                    (side if self.graph.steps[key].kind.parallel else serial).append(key)
                side.sort(key=self._seconds)  # the longest is taken first
                while side and len(running) < self.jobs:
                    key = side.pop()
                    hashes = self._due(self.graph.steps[key])
                    if hashes is None:
                        sorter.done(key)
                    else:
                        before[key] = (hashes, time.monotonic())
                        running[pool.submit(self._run, self.graph.steps[key])] = key
                if serial:
                    key = serial.popleft()
                    self._serial(self.graph.steps[key])
                    sorter.done(key)
                for future in wait(running, 0 if serial else 0.2, FIRST_COMPLETED).done if running else ():
                    key = running.pop(future)
                    self._finish(self.graph.steps[key], future.result, *before[key])
                    sorter.done(key)
        except BaseException:
            process.end_all()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            self.state.save()
        return self.outcome

    def _serial(self, step: Step) -> None:
        hashes = self._due(step)
        if hashes is not None:
            self._finish(step, lambda: self._run(step), hashes, time.monotonic())

    def _due(self, step: Step) -> dict[str, str] | None:
        """The hashes of the step's inputs when it must be built, else None."""
        blocked = [need for need in step.needs if need in self.outcome.failed or need in self.outcome.left_out]
        if blocked:
            self.outcome.left_out[step.key] = blocked[0]
            self.report("left out", step.key, f"needs {blocked[0]}")
            return None
        hashes = self._hashes(step)
        if not step.fault and not self.reasons(step, hashes):
            self.outcome.fresh.append(step.key)
            self.report("fresh", step.key, "")
            return None
        self.report("start", step.key, "")
        return hashes

    def _hashes(self, step: Step) -> dict[str, str]:
        made = [path for need in step.needs for path in self.state.steps.get(need, {}).get("outputs", ())]
        return self.reader.digests(sorted({*step.inputs, *made}))

    def stamp(self, step: Step) -> str:
        """A hash of all that a step depends on, as it is now."""
        return hashed(repr(self._hashes(step)).encode()).decode()

    def reasons(self, step: Step, hashes: dict[str, str] | None = None) -> list[str]:
        """Why a step is not fresh, in words; empty when it is."""
        entry = self.state.steps.get(step.key)
        if entry is None:
            return ["never built here"]
        now = hashes if hashes is not None else self._hashes(step)
        then = entry["inputs"]
        words: list[str] = []
        if now and not then:
            words.append("its last build failed")
        elif now != then:
            words += [f"{path} changed" for path in now if path in then and now[path] != then[path]]
            words += [f"{path} is new" for path in now if path not in then]
            words += [f"{path} is gone" for path in then if path not in now]
        for path, known in entry["outputs"].items():
            digest = self.reader.digest(path)
            if digest != known:
                words.append(f"{path} changed since it was built" if digest else f"{path} was removed")
        return words

    def _run(self, step: Step) -> Contents:
        if step.fault:
            raise SpecError(step.fault)
        job = Job(
            root=self.root,
            kind=step.kind.name,
            name=step.name,
            file=step.file,
            function=step.function,
            artifacts=step.artifacts,
            inputs=tuple(self._hashes(step)),
            line=step.line,
            note=lambda text: self.report("note", step.key, text),
        )
        try:
            contents: Contents = resolve(step.kind.builder)(job)
        except ThesisError as error:
            error.args = (f"{error}{job.holding(str(error))}",)
            raise
        missing = [path for path in step.targets if path not in contents]
        astray = [path for path in contents if not writable(path)]
        if missing or astray:
            raise SpecError(
                f"the builder of {step.key} made {astray or 'not'} {missing or ''}; see boundpaper/build/kinds.py"
            )
        return contents

    def _finish(
        self,
        step: Step,
        result: Callable[[], Contents],
        hashes: dict[str, str],
        start: float,
    ) -> None:
        try:
            self._keep(step, result(), hashes, time.monotonic() - start)
            self.outcome.built.append(step.key)
            self.report("built", step.key, "")
        except ThesisError as error:
            own = step.file and not step.file.startswith(tuple(package_folders(self.root).values()))
            if own and step.file not in str(error) and not _begins_with_a_file(self.root, str(error)):
                error.args = (f"{_own_place(self.root, error, step) or step.file}: {error}",)
            self._fail(step, error)
        except ModuleNotFoundError as error:
            self._fail(step, MissingDependency.package(error.name), error)
        except Exception as error:  # a fault in a step's own code is the user's to mend: say where
            told = f"{type(error).__name__}: {error}{''.join(getattr(error, '__notes__', ()))}"
            self._fail(step, SpecError(f"{_place(self.root, error, step)}: {told}"), error)

    def _fail(self, step: Step, error: ThesisError, cause: BaseException | None = None) -> None:
        error.__cause__ = cause or error.__cause__
        self.outcome.failed[step.key] = error
        self._own_what_was_left(step)
        self.report("failed", step.key, str(error))

    def _own_what_was_left(self, step: Step) -> None:
        """Record outputs that a failed builder wrote by itself, such as LaTeX's source: they are no edit of a user."""
        entry = self.state.steps.get(step.key)
        if entry is None:
            return
        outputs = dict(entry["outputs"])
        for path in outputs:
            before = self.reader.digest(path)  # memoised when the step was found due
            self.reader.forget(path)
            if (after := self.reader.digest(path)) != before:
                outputs[path] = after
        if outputs != entry["outputs"]:
            self.state.record(step.key, {**entry, "inputs": {}, "outputs": outputs})

    def _keep(self, step: Step, contents: Contents, hashes: dict[str, str], seconds: float) -> None:
        for path in hashes:
            self.reader.forget(path)
        changed = [path for path, known in hashes.items() if self.reader.digest(path) != known]
        if changed:
            raise ThesisError(f"{', '.join(changed)} changed while {step.key} was being built; run the command again")
        entry = self.state.steps.get(step.key, {"outputs": {}})
        outputs = {}
        for path, content in contents.items():
            digest, known = self.reader.digest(path), entry["outputs"].get(path, "")
            written = write(self.root / path, content.encode() if isinstance(content, str) else content)
            if written and digest and known and digest != known:  # an edit that equals what is built is lost to nobody
                self.report("rewritten", step.key, path)
            self.reader.forget(path)
            outputs[path] = self.reader.digest(path)
        for path in entry["outputs"].keys() - outputs.keys():
            (self.root / path).unlink(missing_ok=True)
        self.state.record(step.key, {"inputs": hashes, "outputs": outputs, "seconds": round(seconds, 3)})

    def _seconds(self, key: str) -> float:
        return float(self.state.steps.get(key, {}).get("seconds", 0))

    def _sweep(self) -> None:
        """Remove the outputs of steps that are gone; not while a file is unreadable, for its steps only seem gone."""
        gone = [] if self.graph.faults else [key for key in self.state.steps if key not in self.graph.steps]
        for key in gone:
            for path, known in self.state.steps[key]["outputs"].items():
                if self.reader.digest(path) == known:
                    (self.root / path).unlink()
                    self.reader.forget(path)
            self.report("note", key, "no longer exists; its outputs were removed")
            self.state.record(key, None)


_PATH = re.compile(r"[\w.-]++(?:/[\w.-]++)++")


def _begins_with_a_file(root: Path, message: str) -> bool:
    """Whether a message says at its beginning of which file of the project it speaks."""
    path = _PATH.match(message)
    return path is not None and (root / path[0]).is_file()


def _place(root: Path, error: BaseException, step: Step) -> str:
    """`file:line` of the deepest frame in the step's own file; else that of the step and the deepest in the project."""
    places = _frames(root, error, step)
    own = _own_place(root, error, step)
    deepest = f"{places[-1][0]}:{places[-1][1]}" if places else ""
    return own or ": ".join(filter(None, (step.file and f"{step.file}:{step.line}", deepest)))


def _own_place(root: Path, error: BaseException, step: Step) -> str:
    """`file:line` of the deepest frame in the step's own file; empty where none lies there."""
    own = [line for file, line in _frames(root, error, step) if file == step.file]
    return f"{step.file}:{own[-1]}" if own else ""


def _frames(root: Path, error: BaseException, step: Step) -> list[tuple[str, int | None]]:
    """File, relative to the project, and line of the frames of an error that lie in the project."""
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    place = (root / step.file).resolve()  # below another root for a project that is built aside
    inside_project = step.file and not Path(step.file).is_absolute()
    code = place.parents[len(Path(step.file).parts) - 1] if inside_project else root
    return [
        (path.relative_to(base).as_posix(), line)
        for path, line in frames
        for base in dict.fromkeys((root, code))
        if path.is_relative_to(base)
    ]
