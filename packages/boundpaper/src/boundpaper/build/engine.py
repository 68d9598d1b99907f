"""Build the steps whose inputs or outputs have changed in content since their last build.

This engine is used instead of doit, which only checks that targets exist, saves its state at the end, runs each action
in a process that imports everything again, and misses an input that changes during its step. Its public interface
offers no way to change this.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path

from boundpaper.build import process
from boundpaper.build.facts import FactReader, function_named
from boundpaper.build.graph import Graph, Step
from boundpaper.build.job import Job
from boundpaper.build.pool import ProcessWorkers
from boundpaper.build.running import Contents, StepOutput, located_error, run_builder
from boundpaper.build.state import State
from boundpaper.errors import SpecError, ThesisError
from boundpaper.store.cached_files import hash_bytes
from boundpaper.store.files import write

# Processes start if their steps took at least this long in earlier builds, since each process imports for a second.
POOL_SECONDS = 4.0
POOL_STEPS = 40  # processes start for as many steps that were never timed
MOST_WORKERS = 8  # most processes; each needs about 400 MB

Report = Callable[[str, str, str], None]


@dataclass
class BuildOutcome:
    """The keys of the steps of a build, by what the build did with them.

    `fresh` steps were up to date. `left_out` maps a step that was not built to the failed or left-out step it needs.
    """

    built: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, ThesisError] = field(default_factory=dict)


class Engine:
    """Builds steps of a graph.

    `reader` hashes each file once per run. `report` is called with an event (`start`, `built`, `fresh`, `failed`, `left
    out`, `note`, `rewritten`), a step's key, and a text; for `rewritten` the text is the path of a rebuilt output that
    somebody had edited. At most `jobs` processes, outside programs included, run at a time. Worker processes stay after
    a build, for later builds and calls; the owner of the engine closes `workers`. If the owner works beside them, it
    reserves jobs (`reserved`), which outside programs use during a build.
    """

    def __init__(
        self, root: Path, graph: Graph, reader: FactReader, report: Report, jobs: int = 0, reserved: int = 0
    ) -> None:
        self.root, self.graph, self.reader, self.report, self.reserved = root, graph, reader, report, reserved
        self.jobs = jobs or os.cpu_count() or 1
        number = max(self.jobs - reserved, 1) if self.jobs > 1 else 0
        self.workers = ProcessWorkers(min(number, MOST_WORKERS))
        self.state = State(root / "out/state/state.json")
        self.outcome = BuildOutcome()

    def build(self, targets: Iterable[str]) -> BuildOutcome:
        """Build `targets` and the steps they need; after a failure, continue with independent steps."""
        order = self.graph.order(targets)
        sorter = TopologicalSorter({key: self.graph.steps[key].needs for key in order})
        sorter.prepare()
        chain_seconds = self._longest_chains(order)
        waiting_keys: deque[str] = deque()
        thread_keys: list[str] = []
        process_keys: list[str] = []
        running: dict[Future[StepOutput], str] = {}
        input_hashes: dict[str, dict[str, str]] = {}
        pool = ThreadPoolExecutor(max_workers=self.jobs)
        preparation = pool.submit(self._prepare, order)
        workers = self.workers
        process.start_again()
        try:
            self._remove_old_outputs()
            while sorter.is_active():
                for key in sorter.get_ready():
                    (thread_keys if self.graph.steps[key].kind.in_thread else waiting_keys).append(key)
                thread_keys.sort(key=chain_seconds.__getitem__)
                in_process = [key for key in running.values() if not self.graph.steps[key].kind.in_thread]
                busy = workers.number if workers.begun and process_keys else min(len(in_process), workers.number)
                while thread_keys and len(running) - len(in_process) < self.jobs - busy:
                    key = thread_keys.pop()
                    hashes = self._hashes_if_due(self.graph.steps[key])
                    if hashes is None:
                        sorter.done(key)
                    else:
                        input_hashes[key] = hashes
                        running[pool.submit(self._run, self.graph.steps[key])] = key
                if waiting_keys:
                    key = waiting_keys.popleft()
                    step = self.graph.steps[key]
                    hashes = self._hashes_if_due(step)
                    if hashes is not None and step.kind.in_process and not step.fault:
                        input_hashes[key] = hashes
                        process_keys.append(key)
                    else:
                        if hashes is not None:
                            self._finish_step(step, partial(self._run, step), hashes)
                        sorter.done(key)
                process_keys.sort(key=chain_seconds.__getitem__, reverse=True)
                may_begin = self.jobs > 1 and not (waiting_keys or workers.begun or workers.broken)
                if may_begin and sum(map(self._expected_seconds, process_keys)) >= POOL_SECONDS:
                    workers.begin()
                most_running = self.jobs + (1 if preparation.done() else -1)  # one step waits, or one CPU runs TeX
                places = min(most_running - len(running), workers.number + 1 - len(in_process))
                while workers.begun and process_keys and places > 0:
                    places -= 1
                    step = self.graph.steps[process_keys[0]]
                    if future := workers.submit(run_builder, self._job_of(step), step.kind.builder, step.targets):
                        running[future] = process_keys.pop(0)
                if process_keys and not workers.begun and not waiting_keys:
                    key = process_keys.pop(0)
                    step = self.graph.steps[key]
                    self._finish_step(step, partial(self._run, step), input_hashes.pop(key))
                    sorter.done(key)
                is_busy = waiting_keys or (process_keys and not workers.begun)
                for future in wait(running, 0 if is_busy else 0.2, FIRST_COMPLETED).done if running else ():
                    key = running.pop(future)
                    self._finish_step(self.graph.steps[key], partial(workers.result, future), input_hashes.pop(key))
                    sorter.done(key)
        except BaseException:
            process.end_all()
            workers.kill_all()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            self.state.save()
        return self.outcome

    def _prepare(self, order: Iterable[str]) -> None:
        """For steps that were never built, call `prepare` of their kinds, so that outside programs start early."""
        kinds = (self.graph.steps[key].kind for key in order if key not in self.state.steps)
        for name in dict.fromkeys(kind.prepare for kind in kinds if kind.prepare and self.jobs > 1):
            with suppress(ThesisError):  # the step will raise the same error
                function_named(name)(self.root)

    def _longest_chains(self, order: Sequence[str]) -> dict[str, float]:
        """Return for each step, by key, the expected seconds of the longest chain of steps that begins with it.

        If some jobs are reserved, an outside program counts as an hour, and the steps before it count negatively, so
        that the first programs begin early.
        """
        seconds = dict.fromkeys(order, 0.0)
        hour = 3600.0 if self.reserved else 0.0
        for key in reversed(order):
            is_before = hour and seconds[key] > hour / 2
            seconds[key] += self._expected_seconds(key) * (-1 if is_before else 1)
            seconds[key] += hour * self.graph.steps[key].kind.in_thread
            for need in self.graph.steps[key].needs:
                seconds[need] = max(seconds[need], seconds[key])
        return seconds

    def _hashes_if_due(self, step: Step) -> dict[str, str] | None:
        """Return the hashes of the step's inputs if the step must be built, else None."""
        for need in step.needs:
            if need in self.outcome.failed or need in self.outcome.left_out:
                self.outcome.left_out[step.key] = need
                self.report("left out", step.key, f"needs {need}")
                return None
        hashes = self._hashes(step)
        if not step.fault and not self.reasons(step, hashes):
            self.outcome.fresh.append(step.key)
            self.report("fresh", step.key, "")
            return None
        self.report("start", step.key, "")
        return hashes

    def _hashes(self, step: Step) -> dict[str, str]:
        return self.reader.digests(self._inputs(step))

    def _inputs(self, step: Step) -> list[str]:
        """Return the files that a step depends on, sorted: its inputs, and the outputs of the steps it needs."""
        outputs = [path for need in step.needs for path in self.state.steps.get(need, {}).get("outputs", ())]
        return sorted({*step.inputs, *outputs})

    def stamp(self, step: Step) -> str:
        """Return a hash of the present content of all files that a step depends on."""
        return hash_bytes(repr(self._hashes(step)).encode()).decode()

    def reasons(self, step: Step, hashes: dict[str, str] | None = None) -> list[str]:
        """Return the reasons why a step is out of date; empty if it is up to date."""
        entry = self.state.steps.get(step.key)
        if entry is None:
            return ["never built here"]
        new = hashes if hashes is not None else self._hashes(step)
        old = entry["inputs"]
        reasons: list[str] = []
        if new and not old:
            reasons.append("its last build failed")
        elif new != old:
            reasons += [f"{path} changed" for path in new if old.get(path, new[path]) != new[path]]
            reasons += [f"{path} is new" for path in new if path not in old]
            reasons += [f"{path} is gone" for path in old if path not in new]
        for path, output_hash in entry["outputs"].items():
            digest = self.reader.digest(path)
            if digest != output_hash:
                reasons.append(f"{path} changed since it was built" if digest else f"{path} was removed")
        return reasons

    def _job_of(self, step: Step) -> Job:
        identity, inputs = (step.kind.name, step.name, step.file, step.function), tuple(self._inputs(step))
        return Job(self.root, *identity, step.artifacts, inputs, step.line)

    def _run(self, step: Step) -> StepOutput:
        """Run a step's builder; do not use `reader` here, since this may run in another thread."""
        if step.fault:
            raise SpecError(step.fault)
        return run_builder(self._job_of(step), step.kind.builder, step.targets)

    def _origins(self, step: Step, message: str) -> str:
        """Return a note on each result that a step's error names: the artifacts from which the result is computed."""
        results = [name for name in step.artifacts if name in message and f"result:{name}" in self.graph.steps]
        sources = (", ".join(self.graph.steps[f"result:{name}"].artifacts) for name in results)
        return "".join(f"; {name} is computed from {names}" for name, names in zip(results, sources, strict=True))

    def _finish_step(self, step: Step, result: Callable[[], StepOutput], hashes: dict[str, str]) -> None:
        try:
            output = result()
            for text in output.notes:
                self.report("note", step.key, text)
            self._store_outputs(step, output.contents, hashes, output.seconds)
            self.outcome.built.append(step.key)
            self.report("built", step.key, "")
        except Exception as error:
            failure = located_error(self._job_of(step), error)
            failure.args = (f"{failure}{self._origins(step, str(failure))}",)
            self._record_failure(step, failure, None if isinstance(error, ThesisError) else error)

    def _record_failure(self, step: Step, error: ThesisError, cause: BaseException | None = None) -> None:
        error.__cause__ = cause or error.__cause__
        self.outcome.failed[step.key] = error
        self._record_leftovers(step)
        self.report("failed", step.key, str(error))

    def _record_leftovers(self, step: Step) -> None:
        """Record outputs that a failed builder left, such as LaTeX source, so that they do not count as user edits."""
        entry = self.state.steps.get(step.key)
        if entry is None:
            return
        outputs = dict(entry["outputs"])
        for path in outputs:
            old_digest = self.reader.digest(path)  # from when the step was found out of date
            self.reader.forget(path)
            if (digest := self.reader.digest(path)) != old_digest:
                outputs[path] = digest
        if outputs != entry["outputs"]:
            self.state.record(step.key, {**entry, "inputs": {}, "outputs": outputs})

    def _store_outputs(self, step: Step, contents: Contents, hashes: dict[str, str], seconds: float) -> None:
        for path in hashes:
            self.reader.forget(path)
        changed_paths = ", ".join(path for path, digest in hashes.items() if self.reader.digest(path) != digest)
        if changed_paths:
            raise ThesisError(f"{changed_paths} changed while {step.key} was being built; run the command again")
        entry = self.state.steps.get(step.key, {"outputs": {}})
        outputs = {}
        for path, content in contents.items():
            old_digest, built_digest = self.reader.digest(path), entry["outputs"].get(path, "")
            is_written = write(self.root / path, content.encode() if isinstance(content, str) else content)
            if is_written and old_digest and built_digest and old_digest != built_digest:
                self.report("rewritten", step.key, path)  # an edit by hand is lost
            self.reader.forget(path)
            outputs[path] = self.reader.digest(path)
        for path in entry["outputs"].keys() - outputs.keys():
            (self.root / path).unlink(missing_ok=True)
        self.state.record(step.key, {"inputs": hashes, "outputs": outputs, "seconds": round(seconds, 3)})

    def _expected_seconds(self, key: str) -> float:
        """Return the seconds that a step last took, or a guess if it was never timed."""
        return float(self.state.steps.get(key, {}).get("seconds", 0)) or POOL_SECONDS / POOL_STEPS

    def _remove_old_outputs(self) -> None:
        """Remove outputs of steps that no longer exist, unless the graph has faults, which may hide steps."""
        removed_keys = [] if self.graph.faults else [key for key in self.state.steps if key not in self.graph.steps]
        for key in removed_keys:
            for path, built_digest in self.state.steps[key]["outputs"].items():
                if self.reader.digest(path) == built_digest:
                    (self.root / path).unlink()
                    self.reader.forget(path)
            self.report("note", key, "no longer exists; its outputs were removed")
            self.state.record(key, None)
