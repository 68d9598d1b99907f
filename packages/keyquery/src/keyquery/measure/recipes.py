"""Read recipes: files that list models, how to load them, and what to measure on them."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, ModelError, ThesisError, about
from boundpaper.store.rules import (
    Rule,
    anything,
    at_least,
    by_name,
    either,
    flag,
    listed,
    mapping,
    positive,
    require,
    text,
    whole,
)
from boundpaper.store.table_file import rows
from boundpaper.store.text_file import yaml_of
from boundpaper.suggestions import suggest
from keyquery.measure.choices import declared_value, every_experiment, experiments_for_all, settings_of
from keyquery.measure.measurements import checked_name
from keyquery.measure.subject import LONGEST, Options, resolve_source
from keyquery.models.checkpoints.loading import ModelSource
from keyquery.models.checkpoints.shapes import Shape

FOLDER = "artifacts/recipes"
SUBJECTS = "artifacts/sources/subjects.csv"  # the paper's table of the models that it studies
ALL = "all"
_count = at_least(1)
LOADING: Mapping[str, Rule] = {  # keys for fields of `ModelSource`; FOR_ALL ones may be set for all models
    **dict.fromkeys(("revision", "dtype", "quantize", "position", "load_as"), text),
    **dict.fromkeys(("double", "bos", "trust_remote_code"), flag),
    "scaling": positive,
}
FOR_ALL = ("dtype", "quantize", "double")
_WIDTHS = ("layers", "width", "inner", "heads", "key_heads", "head_dim", "vocabulary", "positions")
SHAPE = mapping(
    {
        "type": text,
        **dict.fromkeys(_WIDTHS, _count),
        "rope_theta": positive,
        "rope": by_name(anything),  # keys by which transformers identifies the kind of rotation
        "tied": flag,
        "cross_layers": listed(whole),
        "besides": whole,
    },
    ("type", *_WIDTHS, "rope_theta"),
)
MODEL = mapping({"name": text, "id": text, "shape": SHAPE, **LOADING}, ("name", "id"))
TOP = mapping(
    {
        "title": text,
        "experiments": either(text, listed(text)),
        "models": listed(MODEL),
        **dict.fromkeys(("context", "documents"), _count),
        "memory": positive,
        "texts": text,
        "tokens": at_least(8),
        "items": whole,
        "seeds": listed(whole),
        "settings": by_name(by_name(anything)),  # each held against its experiment
        **{name: LOADING[name] for name in FOR_ALL},
    },
    ("title", "models", "experiments"),
)
"""The keys that a recipe may have."""


@dataclass(frozen=True)
class RecipeModel:
    """One model of a recipe: the name of its measurements, how it is loaded, and its shape if the file gives it."""

    name: str
    source: ModelSource
    shape: Shape | None = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The content of a recipe file.

    Models are measured one after the other, with the same items, texts and seeds. `options` set the amount of texts
    and items, and `settings` are options by experiment. `context` is the number of tokens of the longest prompt
    (None: of the texts), for estimating memory, and `memory` the GB of the intended device.
    """

    file: str
    title: str
    models: tuple[RecipeModel, ...]
    experiments: tuple[str, ...]
    options: Options
    settings: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    context: int | None = None
    memory: float | None = None

    @property
    def longest(self) -> int:
        """Number of tokens of the longest input, for which memory must suffice."""
        return self.context or self.scored_tokens

    @property
    def scored_tokens(self) -> int:
        """Number of tokens whose logits are in memory at once: all tokens of a text, but only the last of a prompt."""
        return self.options.tokens or LONGEST


def load_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises DataError for unknown or missing keys, invalid types and values, and unknown experiments; the message names
    the file and the key.
    """
    try:
        content = yaml_of(Path(), str(path))
    except FileNotFoundError:
        raise DataError(f"{path}: cannot be read (no such file)") from None
    require(content, TOP, str(path))
    top: dict[str, Any] = content
    defaults = {key: top[key] for key in FOR_ALL if key in top}
    entries = tuple(_entry(model, defaults, str(path), f"models[{place}]") for place, model in enumerate(top["models"]))
    if not entries:
        raise DataError(f"{path}: models is empty; name at least one model")
    names = [entry.name for entry in entries]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise DataError(f"{path}: two models are called {double}; the second's measurements would replace the first's")
    seeds = top.get("seeds", [0])
    experiments = _read_experiments(top["experiments"], str(path))
    return Recipe(
        file=str(path),
        title=top["title"],
        models=entries,
        experiments=experiments,
        options=_read_options(top, seeds, str(path)),
        settings=_read_settings(top.get("settings", {}), experiments, str(path)),
        context=top.get("context"),
        memory=top.get("memory"),
    )


def memory_outline(recipe: Recipe) -> list[str]:
    """Return one line per model on the memory it will need, from the shapes given in the recipe alone.

    Raises ModelError if a model cannot fit into the memory that the recipe states.
    """
    from keyquery.models.checkpoints.estimate import check_memory

    lines = []
    free = None if recipe.memory is None else int(recipe.memory * 1e9)
    for place, entry in enumerate(recipe.models):
        if entry.shape is None:
            lines.append(f"{entry.name}: {recipe.file} does not give its shape; memory is estimated when it is loaded")
            continue
        source = entry.source
        estimated = entry.shape.estimate(
            entry.name,
            context=recipe.longest,
            logits=recipe.scored_tokens,
            dtype=source.dtype,
            quantize=source.quantize,
            double=source.double,
        )
        with about(f"{recipe.file}: models[{place}]"):
            lines.append(check_memory(estimated, free))
    return lines


def run_recipe(
    root: Path,
    recipe: Recipe,
    *,
    again: bool = False,
    replace: bool = False,
    device: str = "auto",
    anyway: bool = False,
    trusted: bool = False,
) -> list[str]:
    """Measure the models of a recipe one after the other; return the tables' paths relative to the project.

    Memory is estimated and printed before a model is loaded. If a model fails, the others are still measured;
    finished results are kept, and a rerun measures only the rest.

    Options are those of the command `run`. Code that comes with a model is run only if `trusted`, since a recipe may
    be someone else's. Raises ModelError before loading if models need untrusted code, and NotAllMeasured at the end if
    models failed, with their names and reasons.
    """
    from keyquery.measure.bar import open_bar
    from keyquery.measure.not_measured import NotAllMeasured, as_project_error, measured_before
    from keyquery.measure.run import RunPlan, free_memory, measure

    foreign = [entry.name for entry in recipe.models if entry.source.trust_remote_code]
    if foreign and not trusted:
        raise ModelError(
            f"{recipe.file}: {', '.join(foreign)} would run Python code that comes with the model; read it, then give "
            "--trust-remote-code"
        )
    recipe.options.require_texts()
    table_paths: list[Path] = []
    failures: list[str] = []
    with open_bar(Path(recipe.file).stem) as bar:
        for place, entry in enumerate(recipe.models):
            source = dataclasses.replace(entry.source, device=device)
            plan = RunPlan(
                root=root,
                source=source,
                experiments=recipe.experiments,
                options=recipe.options,
                settings=dict(recipe.settings),
                name=entry.name,
                again=again,
                replace=replace,
                anyway=anyway,
            )

            def tell(text: str, place: int = place, name: str = entry.name) -> None:
                bar.update(place, len(recipe.models), f"{name}: {text}")

            try:
                scored_tokens = text_length(root, source, recipe.options)
                bar.say(weigh(root, source, recipe.context or scored_tokens, scored_tokens, anyway=anyway))
                table_paths += measure(plan, tell)
            except Exception as error:
                table_paths += measured_before(error)
                reason = as_project_error(error)
                bar.say(f"{entry.name}: {reason}")
                failures.append(f"models[{place}], {entry.name}: {reason}")
            free_memory()
        for name in unlisted_measurements([entry.name for entry in recipe.models], root):
            bar.say(
                f"{name}: {SUBJECTS} has no row for it, so no table or figure shows it; add a row with its role "
                "(docs/extending.md)"
            )
    if failures:
        raise NotAllMeasured(
            f"{recipe.file}: {len(failures)} of {len(recipe.models)} models not measured; run again for these: "
            + " | ".join(failures),
            table_paths,
        )
    return [path.relative_to(root).as_posix() for path in table_paths]


def unlisted_measurements(names: Iterable[str], root: Path) -> list[str]:
    """Return the names of measurements that do not begin with the name of a subject.

    If the project has no table of subjects, return an empty list.
    """
    if not (root / SUBJECTS).exists():
        return []
    subjects = [row["model"] for _, row in rows(root / SUBJECTS)]
    return [name for name in names if not any(name == known or name.startswith(f"{known}-") for known in subjects)]


def weigh(
    root: Path, source: ModelSource, context: int, scored_tokens: int | None = None, *, anyway: bool = False
) -> str:
    """Return one line with a model's memory estimate and its device's free memory, to print before loading.

    `context` is the number of tokens of the longest prompt, and `scored_tokens` the number whose logits are in memory
    at once (None: all). Raises ModelError if the configuration cannot be read or, unless `anyway` is set, the model
    cannot fit.
    """
    from keyquery.models.checkpoints.estimate import check_memory, estimate, free_bytes

    resolved_source, _ = resolve_source(root, source)
    estimated = dataclasses.replace(estimate(resolved_source, context=context, logits=scored_tokens), name=source.name)
    return check_memory(estimated, free_bytes(source.device), anyway=anyway)


def longest_prompt(root: Path, source: ModelSource) -> int:
    """Return the number of tokens of the longest prompt of `context_length`, from a model's configuration alone.

    Raises ModelError if the configuration cannot be read.
    """
    from keyquery.measure.run import experiment

    settings: dict[str, Any] = experiment("context_length").SETTINGS
    longest = int(settings["longest"])
    return min(longest, round(float(max(settings["ratios"])) * (_position_count(root, source) or longest)))


def text_length(root: Path, source: ModelSource, options: Options) -> int:
    """Return the number of tokens per text that experiments read, from a model's configuration alone.

    Raises ModelError if the configuration cannot be read.
    """
    return options.tokens or min(LONGEST, _position_count(root, source) or LONGEST)


def _position_count(root: Path, source: ModelSource) -> int:
    """Return the number of positions that a model's configuration states; 0 if it states none."""
    from keyquery.models.checkpoints.loading import configuration

    config = configuration(resolve_source(root, source)[0]).get_text_config()
    return int(getattr(config, "max_position_embeddings", 0) or 0)


def _entry(model: Mapping[str, Any], defaults: Mapping[str, Any], file: str, place: str) -> RecipeModel:
    loading = {**defaults, **{key: model[key] for key in LOADING if key in model}}
    if "scaling" in loading:
        loading["scaling"] = float(loading["scaling"])
    shape = None
    if "shape" in model:
        facts = model["shape"]
        numbers = {"rope_theta": float(facts["rope_theta"]), "cross_layers": tuple(facts.get("cross_layers", ()))}
        shape = Shape(**{**facts, **numbers})
    try:
        return RecipeModel(checked_name(model["name"]), ModelSource(model["id"], **loading), shape)
    except ThesisError as error:
        raise DataError(f"{file}: {place}: {error}") from None


def _read_experiments(recipe_value: str | list[Any], file: str) -> tuple[str, ...]:
    if recipe_value == ALL:
        return experiments_for_all()
    names, known_names = _as_list(recipe_value), every_experiment()
    for name in names:
        if name not in known_names:
            hint = suggest(str(name), known_names).rstrip() or f"they are {', '.join(known_names)}, or {ALL}"
            raise DataError(f"{file}: experiments: {name!r} is not an experiment; {hint}")
    if not names:
        raise DataError(f"{file}: experiments is empty; name one, or write {ALL}")
    return tuple(name for name in known_names if name in names)


def _as_list(recipe_value: str | list[Any]) -> list[Any]:
    return [recipe_value] if isinstance(recipe_value, str) else recipe_value


def _read_options(top: Mapping[str, Any], seeds: list[int], file: str) -> Options:
    recipe_keys = {"texts": "documents", "tokens": "tokens", "items": "items", "place": "texts"}
    try:
        options = Options(**{key: top[name] for key, name in recipe_keys.items() if name in top}, seeds=tuple(seeds))
        for name in _as_list(top["experiments"]):
            if name in every_experiment() and declared_value(name, "NEEDS_ITEMS"):
                options.need_items(name)
        return options
    except ThesisError as error:
        raise DataError(f"{file}: {error}") from None


def _read_settings(settings: Mapping[str, Any], experiments: Sequence[str], file: str) -> dict[str, dict[str, Any]]:
    for name, options in settings.items():
        if name not in experiments:
            raise DataError(f"{file}: settings.{name} is for an experiment that the recipe does not run")
        require(options, mapping(settings_of(name)), f"{file}: settings.{name}")
    return dict(settings)
