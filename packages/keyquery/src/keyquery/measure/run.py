"""Run experiments on models, one model at a time; write each result as a file with a manifest."""

import dataclasses
import gc
import importlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from boundpaper.errors import DataError, ModelError, SpecError, ThesisError, about
from boundpaper.store.files import digest, write
from boundpaper.store.measurement import path_of
from boundpaper.typeset.plural import counted
from keyquery.jobs import JobsFailed, Resources, open_executor, report, run_jobs
from keyquery.measure.bar import Bar, duration, open_bar
from keyquery.measure.cache import cache_name
from keyquery.measure.choices import module_of
from keyquery.measure.measurements import conflicting_settings, refuse_overwriting, save, slug
from keyquery.measure.not_measured import NotAllMeasured, as_project_error, written_tables
from keyquery.measure.preflight import intended_length, note_if_too_long, require_positions, unwritable_experiments
from keyquery.measure.rows import frame
from keyquery.measure.subject import LONGEST, Options, Subject, book_of, open_subject, resolve_source
from keyquery.models import libraries
from keyquery.models.checkpoints.loading import ModelSource, configuration, load_tokenizer
from keyquery.models.checkpoints.memory import exhausted
from keyquery.models.vocabulary import vocabulary_hash

WORK_FOLDER = "out/experiments"
SMALL = 20_000_000  # number of parameters below which a model is small


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """A plan of what to measure on one model.

    Experiments run in order; `settings` has the keyword arguments of each experiment's `measure`. `name` is the name of
    the measurements (None: from the model). `again` repeats what the same code has already measured with these options.
    `replace` overwrites measurements of this name made with other weights, encodings, texts or options. `anyway`
    accepts texts too long for meaningful results.
    """

    root: Path
    source: ModelSource
    experiments: tuple[str, ...]
    options: Options = field(default_factory=Options)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    name: str | None = None
    again: bool = False
    replace: bool = False
    anyway: bool = False


def measure(plan: RunPlan, tell: Callable[[str], None] = lambda text: None) -> list[Path]:
    """Run a plan's experiments on the plan's model; return the tables that were written or already finished.

    `out/experiments` records finished work: a rerun of a stopped plan skips finished experiments and reuses stored
    answers. If an experiment fails, all other experiments still run, and NotAllMeasured is raised at the end, with the
    tables that were written. Raises ModelError if the model cannot be loaded, or the only experiment fails. Raises
    DataError if the only experiment cannot be run on this model, or a table with other settings would be overwritten.
    """
    with about(plan.source.name, ModelError):
        return _measure_plan(plan, tell)


def _measure_plan(plan: RunPlan, tell: Callable[[str], None]) -> list[Path]:
    errors, note = _foreseen_failures(plan)
    if len(errors) == len(plan.experiments):
        raise _unmeasured_error(plan, errors, [])
    tell("loading the model")
    answers = plan.root / WORK_FOLDER / "answers"
    subject = open_subject(plan.root, plan.source, options=plan.options, name=plan.name, folder=answers, tell=tell)
    fit_threads(subject)
    require_positions(subject.name, subject.model, plan.options.tokens)
    if note:
        print(note, file=sys.stderr)
    if not plan.replace:
        tables = _planned_tables(plan, subject)
        refuse_overwriting(plan.root, {table: conflicting_settings(table, manifest) for table, manifest in tables})
    paths: list[Path] = []
    for number, name in enumerate(plan.experiments):
        tell(f"{number + 1} of {len(plan.experiments)}: {name}")
        if name in errors:
            continue
        try:
            paths += _run_experiment(plan, subject, name)
        except ThesisError as error:
            errors[name] = error
        except Exception as error:
            if len(plan.experiments) == 1:
                raise as_project_error(error) from error
            errors[name] = as_project_error(error)
        if name in errors:
            free_memory()
    if errors:
        raise _unmeasured_error(plan, errors, paths)
    return paths


def _foreseen_failures(plan: RunPlan) -> tuple[dict[str, ThesisError], str]:
    """Return errors for the experiments whose texts or items the tokenizer cannot encode, and a note on long texts."""
    source, card = resolve_source(plan.root, plan.source)
    config = configuration(source)
    limit = intended_length(config, int(card.get("training_length") or 0))
    note = note_if_too_long(plan.source.name, plan.options.tokens, limit, anyway=plan.anyway)
    tokenizer = load_tokenizer(source, config if source.load_as is not None else None)
    length = limit[0] if limit else LONGEST
    name = plan.name or slug(source.name)
    return unwritable_experiments(name, tokenizer, book_of(card), plan.options, length, plan.experiments), note


def _unmeasured_error(plan: RunPlan, errors: Mapping[str, ThesisError], paths: Sequence[Path]) -> ThesisError:
    """Return the error for experiments that were not measured; `paths` are the tables of measured experiments."""
    if len(plan.experiments) == 1:
        return errors[plan.experiments[0]]
    by_reason: dict[str, list[str]] = {}
    for name, error in errors.items():
        by_reason.setdefault(str(error), []).append(name)
    summary = f"{len(errors)} of {len(plan.experiments)} experiments not measured"
    kept_note = ", the others are kept" * (len(errors) < len(plan.experiments))
    reasons = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return NotAllMeasured(f"{plan.name or slug(plan.source.name)}: {summary}{kept_note}: {reasons}", paths)


def _planned_tables(plan: RunPlan, subject: Subject) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the tables that the plan will write, with manifests; experiments with a function `write` are left out."""
    for name in plan.experiments:
        module, settings = experiment(name), plan.settings.get(name, {})
        if not hasattr(module, "write"):
            yield _table(plan, subject, module, settings), manifest_of(plan, subject, module, settings, 0.0)


def _table(plan: RunPlan, subject: Subject, module: ModuleType, settings: dict[str, Any]) -> Path:
    return path_of(plan.root, module.__name__.rpartition(".")[2], file_name(subject, module, settings))


def file_name(subject: Subject, module: ModuleType, settings: dict[str, Any]) -> str:
    """Return the name of a measurement within its experiment: the experiment's `file_name`, or the model's name."""
    return str(module.file_name(subject.name, **settings)) if hasattr(module, "file_name") else subject.name


def free_memory() -> None:
    """Free the memory of finished work before loading more."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def fit_threads(subject: Subject) -> None:
    """Let torch use one thread for a small model on the CPU, since more threads are slower for small matrices."""
    torch = libraries.torch
    if subject.model.device.type == "cpu" and sum(weight.numel() for weight in subject.model.parameters()) < SMALL:
        torch.set_num_threads(1)


def _run_experiment(plan: RunPlan, subject: Subject, name: str) -> list[Path]:
    module = experiment(name)
    subject.used.clear()
    if hasattr(module, "write"):  # the experiment writes its tables and caches its work itself
        with memory_errors(name, subject):
            table_paths: list[Path] = module.write(plan.root, subject, plan.options, replace=plan.replace)
        return table_paths
    settings = plan.settings.get(name, {})
    table = _table(plan, subject, module, settings)
    done_file = _done_file(plan, subject, module, settings)
    done_digest = done_file.read_text(encoding="utf-8") if done_file is not None and done_file.is_file() else None
    if not plan.again and table.is_file() and done_digest == digest(table):
        print(f"{name} of {subject.name}: already measured with this code and these options", file=sys.stderr)
        return [table]
    start = time.monotonic()
    with memory_errors(name, subject):
        rows = module.measure(subject, plan.options, **settings)
    if not rows:
        raise DataError(f"{name} of {subject.name}: the experiment gave no row; its `measure` must return one")
    [path] = save(
        plan.root,
        {name: frame(rows, subject.positional, subject.precision)},
        table.stem,
        manifest_of(plan, subject, module, settings, time.monotonic() - start),
    )
    if done_file is not None:
        write(done_file, digest(path).encode())
    return [path]


@contextmanager
def memory_errors(name: str, subject: Subject) -> Iterator[None]:
    """Raise a project error with advice if the block runs out of memory."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not exhausted(error):
            raise
        raise ModelError(
            f"{name} of {subject.name}: out of memory; what is finished is kept: run again with a smaller --tokens, "
            "--quantize nf4, or on a larger GPU"
        ) from None  # the error's traceback would keep the tensors alive


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment.

    It has `SETTINGS` (its thresholds) and `measure(subject, options) -> rows`, or, if it writes other tables,
    `write(root, subject, options, replace=)`. Raises SpecError if the file cannot be imported or lacks one of these.
    """
    file = module_of(name).replace(".", "/") + ".py"
    try:
        module = importlib.import_module(module_of(name))
    except (ThesisError, ModuleNotFoundError):
        raise
    except SyntaxError as error:
        raise SpecError(f"{file}:{error.lineno or 1}: {error.msg}") from None
    except Exception as error:
        raise SpecError(str(as_project_error(error))) from error
    required_attributes = () if hasattr(module, "write") else ("SETTINGS", "measure")
    if absent := [attribute for attribute in required_attributes if not hasattr(module, attribute)]:
        raise SpecError(f"{file}: has no `{absent[0]}`; an experiment has `SETTINGS` and `measure(subject, options)`")
    return module


def _done_file(plan: RunPlan, subject: Subject, module: ModuleType, settings: dict[str, Any]) -> Path | None:
    """Return the path of the file that marks a finished measurement; its name hashes weights, options and code.

    Return None for a model without identity, which is always measured again.
    """
    if subject.identity is None:
        return None
    cache_arguments = {"options": plan.options, "more": settings, "identity": subject.identity, "name": subject.name}
    cache_arguments["length"] = subject.training_length
    return plan.root / WORK_FOLDER / "done" / cache_name(module.measure, cache_arguments, module.__name__)


def manifest_of(
    plan: RunPlan, subject: Subject, module: ModuleType, settings: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Return a measurement's manifest: command to repeat it, versions, model, texts, options and thresholds."""
    options, source, default = plan.options.published, plan.source, ModelSource
    model_name = _display_name(plan.root, str(subject.facts["model"]))
    experiment_name = module.__name__.rpartition(".")[2]
    options_by_name: dict[str, Any] = {
        "dtype": source.dtype if source.dtype != default.dtype else None,
        "quantize": source.quantize,
        "revision": source.revision,
        "position": source.position if source.position != default.position else None,
        "load-as": source.load_as,
        "scaling": source.scaling,
        "texts": options.texts_from,
        "documents": options.texts,
        "tokens": options.tokens,
        "items": options.items,
        "seeds": ",".join(str(seed) for seed in options.seeds),
        "name": plan.name,
    }
    arguments = [f"--{name} {shlex.quote(str(value))}" for name, value in options_by_name.items() if value is not None]
    arguments += ["--bos"] * source.bos
    hashes = subject.used.record()
    recorded_options = dataclasses.asdict(options)
    recorded_options["place"] = recorded_options.pop("texts_from")
    published_settings = {name: value.name if isinstance(value, Path) else value for name, value in settings.items()}
    return {
        "command": f"python build.py run {experiment_name} --model {model_name} {' '.join(arguments)}",
        "versions": subject.facts.get("versions", {}),
        "model": {
            **{name: value for name, value in subject.facts.items() if name != "versions"},
            "model": model_name,
            "tokenizer": vocabulary_hash(subject.tokenizer),
        },
        "device": subject.model.device.type,
        "positional": subject.positional,
        "training_length": subject.training_length,
        "training_seed": subject.training_seed,
        "items": subject.book.name,
        "texts": options.texts_from or subject.book.name,
        "hashes": hashes,
        "options": recorded_options,
        "settings": published_settings,
        "thresholds": {**module.SETTINGS, **published_settings},
        "seconds": round(seconds, 1),
    }


def _display_name(root: Path, model: str) -> str:
    """Return a model's name for a manifest; a folder in the project is named by its path, another by its last part."""
    path = Path(model)
    if not path.is_absolute() and not path.is_dir():
        return model
    full_path = path.absolute().resolve()
    in_project = full_path.is_relative_to(root.resolve())
    return full_path.relative_to(root.resolve()).as_posix() if in_project else full_path.name


def run(
    root: Path,
    names: Sequence[str],
    sources: Sequence[ModelSource],
    *,
    options: Options,
    settings: dict[str, dict[str, Any]] | None = None,
    name: str | None = None,
    again: bool = False,
    replace: bool = False,
    anyway: bool = False,
    executor: str = "local",
    resources: Resources | None = None,
) -> list[str]:
    """Measure each model with the same experiments, items and texts; return the tables' paths relative to the project.

    If nothing is measured, and for one reason, raises ThesisError as `measure` does. Otherwise, if some measurements
    are missing, raises NotAllMeasured with all reasons.
    """
    plans = [
        RunPlan(
            root=root,
            source=source,
            experiments=tuple(names),
            options=options,
            settings=settings or {},
            name=name if number == 0 else None,
            again=again,
            replace=replace,
            anyway=anyway,
        )
        for number, source in enumerate(sources)
    ]
    start = time.monotonic()
    if executor == "local" and resources in (None, Resources()):
        paths, errors = _run_all(plans)
    else:
        paths, errors = _measure_in_jobs(root, plans, executor, resources or Resources())
    if len(errors) == 1 and not paths:
        raise errors[0]
    print(f"{counted(len(paths), 'measurement')} in {duration(time.monotonic() - start)}", file=sys.stderr)
    if errors:
        raise NotAllMeasured("\n".join(dict.fromkeys(map(str, errors))), paths)
    return [path.relative_to(root).as_posix() for path in paths]


def _run_all(plans: Sequence[RunPlan]) -> tuple[list[Path], list[ThesisError]]:
    """Measure the models one after the other, even if one fails; return the tables and the errors."""
    paths: list[Path] = []
    errors: list[ThesisError] = []
    with open_bar("experiments") as bar:
        for plan in plans:
            try:
                paths += measure(plan, _progress_teller(bar, plan))
            except Exception as error:
                paths += written_tables(error)
                errors.append(as_project_error(error))
            free_memory()
    return paths, errors


def _progress_teller(bar: Bar, plan: RunPlan) -> Callable[[str], None]:
    begun = 0

    def tell(text: str) -> None:
        nonlocal begun
        begun += " of " in text  # `2 of 5: sinks` begins an experiment
        bar.update(max(0, begun - 1), len(plan.experiments), f"{plan.source.name}: {text}")

    return tell


def _measure_in_jobs(
    root: Path, plans: Sequence[RunPlan], executor: str, resources: Resources
) -> tuple[list[Path], list[ThesisError]]:
    folder = root / WORK_FOLDER / "jobs"
    names = [plan.source.name for plan in plans]
    job_errors: list[ThesisError] = []
    with open_bar("jobs") as bar, open_executor(executor, folder, workers=len(plans), resources=resources) as pool:
        try:
            outcomes = run_jobs(
                measure_in_job,
                [{"plan": plan} for plan in plans],
                pool,
                folder,
                names=names,
                valid=lambda outcome: False,
                progress=bar.follow,
            )
        except JobsFailed as error:
            outcomes, job_errors = list(error.results), [error]
    model_errors = [ModelError(reason) for _, reason in outcomes if reason]
    return [Path(path) for paths, _ in outcomes for path in paths], model_errors + job_errors


def measure_in_job(plan: RunPlan) -> tuple[list[str], str]:
    """Run all experiments on one model as a job; return the tables, and why some are missing (empty if none is)."""
    try:
        return [str(path) for path in measure(plan, report)], ""
    except NotAllMeasured as error:
        if not error.paths:
            raise
        return [str(path) for path in error.paths], str(error)
