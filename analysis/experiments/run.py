"""The command that measures models: experiments by name, a model at a time, each result a file with its manifest."""

from __future__ import annotations

import dataclasses
import functools
import gc
import importlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.experiments.bar import Bar, bar, duration
from analysis.experiments.evaluation import code as evaluation_code
from analysis.experiments.measurements import save
from analysis.experiments.rows import frame
from analysis.experiments.subject import Options, Subject, open_subject
from analysis.jobs import Progress as Jobs
from analysis.jobs import Resources, open_executor, report, run_jobs
from analysis.jobs.content import key
from analysis.models.libraries import need
from analysis.models.loading import ModelSource
from analysis.models.memory import exhausted
from artifacts.errors import DataError, ModelError
from artifacts.files import digest, write

KEPT = "out/experiments"
SMALL = 20_000_000  # parameters


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure of one model.

    Parameters
    ----------
    root : Path
        The project.
    source : ModelSource
        The model.
    experiments : tuple of str
        Names, in the order in which they run.
    options : Options
        How much of each.
    settings : dict
        Further options by experiment, handed to its `measure` as keywords.
    name : str or None
        Of the measurements; from the model when None.
    again : bool
        Measure also what this very code has measured before with these options.
    """

    root: Path
    source: ModelSource
    experiments: tuple[str, ...]
    options: Options = field(default_factory=Options)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    name: str | None = None
    again: bool = False


def measure(plan: Plan, tell: Callable[[str], None] = lambda text: None) -> list[Path]:
    """Run a plan's experiments on its model; return the tables written, or found finished.

    What is finished is kept by `out/experiments`: a plan that was stopped goes on with the next experiment, and within
    one with the answers that it had. An experiment that cannot be made does not keep the others from being measured.

    Raises
    ------
    ModelError
        When the model cannot be loaded; or at the end, when memory ran out or several experiments were asked and some
        cannot be made of this model.
    DataError
        When the one experiment asked cannot be made of this model.
    """
    tell("loading the model")
    subject = open_subject(plan.root, plan.source, name=plan.name, folder=plan.root / KEPT / "answers", tell=tell)
    _threads(subject)
    paths: list[Path] = []
    failed: dict[str, DataError | ModelError] = {}
    for place, name in enumerate(plan.experiments):
        tell(f"{place + 1} of {len(plan.experiments)}: {name}")
        try:
            paths += _one(plan, subject, name)
        except (DataError, ModelError) as error:
            failed[name] = error
            emptied()
    if len(plan.experiments) == 1 and failed:
        raise failed[plan.experiments[0]]
    if failed:
        said = "; ".join(f"{name}: {error}" for name, error in failed.items())
        raise ModelError(
            f"{subject.name}: {len(failed)} of {len(plan.experiments)} experiments not measured, the others are kept: "
            f"{said}"
        )
    return paths


def emptied() -> None:
    """Give back the memory of what is over, before more is loaded."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _threads(subject: Subject) -> None:
    """One thread for a model whose matrices are too small for more: threads would only wait for each other."""
    torch = need("torch")
    if subject.model.device.type == "cpu" and sum(each.numel() for each in subject.model.parameters()) < SMALL:
        torch.set_num_threads(1)


def _one(plan: Plan, subject: Subject, name: str) -> list[Path]:
    module = experiment(name)
    subject.used.clear()
    if hasattr(module, "write"):  # it writes tables of its own, and keeps its own work
        with _enough_memory(name, subject):
            written: list[Path] = module.write(plan.root, subject, plan.options)
        return written
    more = plan.settings.get(name, {})
    file = module.file_name(subject.name, **more) if hasattr(module, "file_name") else subject.name
    table = plan.root / "artifacts/measurements" / name / f"{file}.csv"
    mark = _mark(plan, subject, module, more)
    if mark is not None and not plan.again and table.is_file() and _text(mark) == digest(table):
        print(f"{name} of {subject.name}: measured already with this code and these options", file=sys.stderr)
        return [table]
    start = time.monotonic()
    with _enough_memory(name, subject):
        rows = module.measure(subject, plan.options, **more)
    if not rows:
        raise DataError(f"{name} of {subject.name}: the experiment gave no row")
    [path] = save(
        plan.root,
        {name: frame(rows, subject.positional, subject.precision)},
        file,
        _manifest(plan, subject, module, more, time.monotonic() - start),
    )
    if mark is not None:
        write(mark, digest(path).encode())
    return [path]


@contextmanager
def _enough_memory(name: str, subject: Subject) -> Iterator[None]:
    """Say in our own words that memory ran out."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not exhausted(error):
            raise
        raise ModelError(
            f"{name} of {subject.name}: out of memory; what is finished is kept: run again with a smaller --tokens, "
            "--quantize nf4, or on a larger GPU"
        ) from None  # the traceback holds on to the tensors


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def experiment(name: str) -> ModuleType:
    """The module of an experiment.

    It has `SETTINGS`, its thresholds, and `measure(subject, options) -> rows`, or `write(root, subject, options)` where
    it writes tables of another form.
    """
    return importlib.import_module(f"analysis.experiments.{name}")


def _mark(plan: Plan, subject: Subject, module: ModuleType, more: dict[str, Any]) -> Path | None:
    """The file that says that this was measured: named by weights, options and code."""
    if subject.identity is None:
        return None
    asked = {"options": plan.options, "more": more, "identity": subject.identity, "name": subject.name}
    return plan.root / KEPT / "done" / key(module.measure, asked, _code())


@functools.cache
def _code() -> str:
    here = Path(__file__).parent
    files = [*sorted(here.glob("*.py")), *sorted((here.parent / "lab").glob("*.py"))]
    return "".join(digest(path) for path in files) + evaluation_code()


def _manifest(plan: Plan, subject: Subject, module: ModuleType, more: dict[str, Any], seconds: float) -> dict[str, Any]:
    options, source, default = plan.options, plan.source, ModelSource
    shown = _shown(plan.root, str(subject.facts["model"]))
    asked: dict[str, Any] = {
        "dtype": source.dtype if source.dtype != default.dtype else None,
        "quantize": source.quantize,
        "revision": source.revision,
        "position": source.position if source.position != default.position else None,
        "load-as": source.load_as,
        "scaling": source.scaling,
        "texts": options.place,
        "documents": options.texts,
        "tokens": options.tokens,
        "items": options.items,
        "seeds": ",".join(str(seed) for seed in options.seeds),
        "name": plan.name,
    }
    words = [f"--{name} {shlex.quote(str(value))}" for name, value in asked.items() if value is not None]
    used = subject.used.record()
    further = {name: value.name if isinstance(value, Path) else value for name, value in more.items()}
    return {
        "command": " ".join([f"python build.py run {module.__name__.rpartition('.')[2]} --model {shown}", *words]),
        "versions": subject.facts.get("versions", {}),
        "model": {**{name: value for name, value in subject.facts.items() if name != "versions"}, "model": shown},
        "device": subject.model.device.type,
        "positional": subject.positional,
        "training_length": subject.training_length,
        "training_seed": subject.training_seed,
        "items": subject.book.name,
        "texts": options.place or subject.book.name,
        "hashes": used,
        "options": dataclasses.asdict(options),
        "thresholds": {**module.SETTINGS, **further},
        "seconds": round(seconds, 1),
    }


def _shown(root: Path, model: str) -> str:
    """A model as a manifest names it: folders without the place of this machine's project."""
    path = Path(model)
    if not path.is_absolute():
        return model
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def run(
    root: Path,
    names: Sequence[str],
    sources: Sequence[ModelSource],
    *,
    options: Options,
    settings: dict[str, dict[str, Any]] | None = None,
    name: str | None = None,
    again: bool = False,
    executor: str = "local",
    resources: Resources | None = None,
) -> list[str]:
    """Measure each model with the same experiments, items and texts; return paths below the project.

    Raises
    ------
    ThesisError
        In the words of `measure` and `analysis.jobs.run_jobs`.
    """
    plans = [
        Plan(
            root=root,
            source=source,
            experiments=tuple(names),
            options=options,
            settings=settings or {},
            name=name if place == 0 else None,
            again=again,
        )
        for place, source in enumerate(sources)
    ]
    start = time.monotonic()
    if executor == "local" and resources in (None, Resources()):
        paths = _here(plans)
    else:
        paths = _jobs(root, plans, executor, resources or Resources())
    print(f"{len(paths)} measurements in {duration(time.monotonic() - start)}", file=sys.stderr)
    return [path.relative_to(root).as_posix() for path in paths]


def _here(plans: Sequence[Plan]) -> list[Path]:
    """Measure the models one after the other; one that fails does not keep the next from being measured."""
    paths: list[Path] = []
    failed: list[DataError | ModelError] = []
    with bar("experiments") as shown:
        for plan in plans:
            try:
                paths += measure(plan, _teller(shown, plan))
            except (DataError, ModelError) as error:
                failed.append(error)
            emptied()
    if len(failed) > 1:
        raise ModelError("\n".join(dict.fromkeys(str(error) for error in failed)))
    if failed:
        raise failed[0]
    return paths


def _teller(shown: Bar, plan: Plan) -> Callable[[str], None]:
    state = {"done": 0}

    def tell(text: str) -> None:
        state["done"] += " of " in text
        shown.update(max(0, state["done"] - 1), len(plan.experiments), f"{plan.source.name}: {text}")

    return tell


def _jobs(root: Path, plans: Sequence[Plan], executor: str, resources: Resources) -> list[Path]:
    folder = root / KEPT / "jobs"
    names = [plan.source.name for plan in plans]
    found: list[Path] = []
    with bar("jobs") as shown, open_executor(executor, folder, workers=len(plans), resources=resources) as pool:

        def tell(state: Jobs) -> None:
            if state.event:
                shown.say(state.event)
            said = "; ".join(f"{name}: {text}" for name, text in state.reports.items())
            shown.update(state.kept + state.done, state.total, said, state.seconds_left)

        outcomes = run_jobs(
            share,
            [{"plan": plan} for plan in plans],
            pool,
            folder,
            names=names,
            valid=lambda done: False,
            progress=tell,
        )
    for paths in outcomes:
        found += [Path(path) for path in paths]
    return found


def share(plan: Plan) -> list[str]:
    """A job: all experiments of one model."""
    return [str(path) for path in measure(plan, report)]
