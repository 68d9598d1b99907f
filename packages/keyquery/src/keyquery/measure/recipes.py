"""Read recipes: files that list models, how to load them, and what to measure on them."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, ModelError, ThesisError, about
from boundpaper.store import rules
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
_count = rules.at_least(1)
LOADING: Mapping[str, rules.Rule] = {  # keys of a recipe's model that are fields of `ModelSource`
    **dict.fromkeys(("revision", "dtype", "quantize", "position", "load_as"), rules.text),
    **dict.fromkeys(("double", "bos", "trust_remote_code"), rules.flag),
    "scaling": rules.positive,
}
FOR_ALL = ("dtype", "quantize", "double")  # keys of LOADING that may be set once for all models
_WIDTHS = ("layers", "width", "inner", "heads", "key_heads", "head_dim", "vocabulary", "positions")
SHAPE = rules.mapping(
    {
        "type": rules.text,
        **dict.fromkeys(_WIDTHS, _count),
        "rope_theta": rules.positive,
        "rope": rules.by_name(rules.anything),  # keys from which transformers knows the kind of rotation
        "tied": rules.flag,
        "cross_layers": rules.listed(rules.whole),
        "besides": rules.whole,
    },
    ("type", *_WIDTHS, "rope_theta"),
)
MODEL = rules.mapping({"name": rules.text, "id": rules.text, "shape": SHAPE, **LOADING}, ("name", "id"))
TOP = rules.mapping(
    {
        "title": rules.text,
        "experiments": rules.either(rules.text, rules.listed(rules.text)),
        "models": rules.listed(MODEL),
        **dict.fromkeys(("context", "documents"), _count),
        "memory": rules.positive,
        "texts": rules.text,
        "tokens": rules.at_least(8),
        "items": rules.whole,
        "seeds": rules.listed(rules.whole),
        "settings": rules.by_name(rules.by_name(rules.anything)),  # `_read_settings` checks the values
        **{name: LOADING[name] for name in FOR_ALL},
    },
    ("title", "models", "experiments"),
)
"""The keys that a recipe may have, with a rule for each value."""


@dataclass(frozen=True)
class RecipeModel:
    """One model of a recipe: the name of its measurements, where it is loaded from, and its shape if it is given."""

    name: str
    source: ModelSource
    shape: Shape | None = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The content of a recipe file.

    Models are measured one after the other, with the same items, texts and seeds. `options` sets the number of texts
    and items, and `settings` has further options by experiment. For estimating memory, `context` is the number of
    tokens of the longest prompt (None: as many as a text has), and `memory` the intended device's memory in GB.
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
        """Number of tokens of the longest input, for estimating memory."""
        return self.context or self.scored_tokens

    @property
    def scored_tokens(self) -> int:
        """Number of tokens with logits in memory at once: all of a text; for a prompt, the last token suffices."""
        return self.options.tokens or LONGEST


def load_recipe(path: Path) -> Recipe:
    """Read a recipe.

    Raises DataError for unknown or missing keys, invalid types and values, and unknown experiments; the message names
    the file and the key.
    """
    try:
        top: Any = yaml_of(Path(), str(path))
    except FileNotFoundError:
        raise DataError(f"{path}: cannot be read (no such file); give an existing recipe") from None
    rules.require(top, TOP, str(path))
    defaults = {key: top[key] for key in FOR_ALL if key in top}
    models = tuple(_read_model(keys, defaults, f"{path}: models[{i}]") for i, keys in enumerate(top["models"]))
    if not models:
        raise DataError(f"{path}: models is empty; name at least one model")
    names = [model.name for model in models]
    repeated_name = next((name for name in names if names.count(name) > 1), None)
    if repeated_name is not None:
        raise DataError(f"{path}: two models are called {repeated_name}; give each its own name for its measurements")
    experiments = _read_experiments(top["experiments"], str(path))
    return Recipe(
        file=str(path),
        title=top["title"],
        models=models,
        experiments=experiments,
        options=_read_options(top, str(path)),
        settings=_read_settings(top.get("settings", {}), experiments, str(path)),
        context=top.get("context"),
        memory=top.get("memory"),
    )


def memory_outline(recipe: Recipe) -> list[str]:
    """Return one line per model on the memory that it needs, from the shapes given in the recipe alone.

    Raises ModelError if a model cannot fit into the memory that the recipe states.
    """
    from keyquery.models.checkpoints.estimate import check_memory

    lines = []
    free = None if recipe.memory is None else int(recipe.memory * 1e9)
    for number, model in enumerate(recipe.models):
        if model.shape is None:
            lines.append(f"{model.name}: {recipe.file} does not give its shape; memory is estimated when it is loaded")
            continue
        source = model.source
        estimated = model.shape.estimate(
            model.name,
            context=recipe.longest,
            logits=recipe.scored_tokens,
            dtype=source.dtype,
            quantize=source.quantize,
            double=source.double,
        )
        with about(f"{recipe.file}: models[{number}]"):
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

    Before a model is loaded, its memory is estimated and printed. If a model fails, all other models are still
    measured. Finished results are kept, and a rerun measures only what is missing.

    Options are those of the command `run`. Code that comes with a model is run only if `trusted`, since a recipe may
    be someone else's. Raises ModelError before loading if models need code that is not trusted. Raises NotAllMeasured
    at the end, with names and reasons, if models failed.
    """
    from keyquery.measure.bar import open_bar
    from keyquery.measure.not_measured import NotAllMeasured, as_project_error, written_tables
    from keyquery.measure.run import RunPlan, free_memory, measure

    with_code = [model.name for model in recipe.models if model.source.trust_remote_code]
    if with_code and not trusted:
        raise ModelError(
            f"{recipe.file}: {', '.join(with_code)} would run Python code that comes with the model; read it, then "
            "give --trust-remote-code"
        )
    recipe.options.require_texts()
    table_paths: list[Path] = []
    failures: list[str] = []
    with open_bar(Path(recipe.file).stem) as bar:
        for number, model in enumerate(recipe.models):
            source = dataclasses.replace(model.source, device=device)
            plan = RunPlan(
                root=root,
                source=source,
                experiments=recipe.experiments,
                options=recipe.options,
                settings=dict(recipe.settings),
                name=model.name,
                again=again,
                replace=replace,
                anyway=anyway,
            )

            def tell(text: str, number: int = number, name: str = model.name) -> None:
                bar.update(number, len(recipe.models), f"{name}: {text}")

            try:
                scored_tokens = text_length(root, source, recipe.options)
                bar.say(memory_line(root, source, recipe.context or scored_tokens, scored_tokens, anyway=anyway))
                table_paths += measure(plan, tell)
            except Exception as error:
                table_paths += written_tables(error)
                reason = as_project_error(error)
                bar.say(f"{model.name}: {reason}")
                failures.append(f"models[{number}], {model.name}: {reason}")
            free_memory()
        for name in unlisted_measurements([model.name for model in recipe.models], root):
            bar.say(
                f"{name}: {SUBJECTS} has no row for it, so no table or figure shows it; add a row with its role "
                "(docs/extending.md)"
            )
    if failures:
        raise NotAllMeasured(
            f"{recipe.file}: {len(failures)} of {len(recipe.models)} models not measured; run again for these: "
            f"{' | '.join(failures)}",
            table_paths,
        )
    return [path.relative_to(root).as_posix() for path in table_paths]


def unlisted_measurements(names: Iterable[str], root: Path) -> list[str]:
    """Return the names of measurements whose model is not in the table `SUBJECTS`; empty if the project has no table.

    A model's measurements are named MODEL or MODEL-SUFFIX.
    """
    if not (root / SUBJECTS).exists():
        return []
    subjects = [row["model"] for _, row in rows(root / SUBJECTS)]
    return [name for name in names if name not in subjects and not name.startswith(tuple(f"{s}-" for s in subjects))]


def memory_line(
    root: Path, source: ModelSource, context: int, scored_tokens: int | None = None, *, anyway: bool = False
) -> str:
    """Return one line with a model's memory estimate and its device's free memory.

    `context` is the number of tokens of the longest prompt, and `scored_tokens` the number whose logits are in memory
    at once (None: all). Raises ModelError if the configuration cannot be read or, unless `anyway` is set, the model
    cannot fit.
    """
    from keyquery.models.checkpoints.estimate import check_memory, estimate, free_bytes

    resolved_source, _ = resolve_source(root, source)
    estimated = dataclasses.replace(estimate(resolved_source, context=context, logits=scored_tokens), name=source.name)
    return check_memory(estimated, free_bytes(source.device), anyway=anyway)


def longest_prompt(root: Path, source: ModelSource) -> int:
    """Return how many tokens the longest prompt of the experiment `context_length` has, from a model's configuration.

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


def _read_model(keys: Mapping[str, Any], defaults: Mapping[str, Any], where: str) -> RecipeModel:
    loading = {**defaults, **{key: keys[key] for key in LOADING if key in keys}}
    if "scaling" in loading:
        loading["scaling"] = float(loading["scaling"])
    shape = None
    if facts := keys.get("shape"):
        numbers = {"rope_theta": float(facts["rope_theta"]), "cross_layers": tuple(facts.get("cross_layers", ()))}
        shape = Shape(**{**facts, **numbers})
    try:
        return RecipeModel(checked_name(keys["name"]), ModelSource(keys["id"], **loading), shape)
    except ThesisError as error:
        raise DataError(f"{where}: {error}") from None


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


def _read_options(top: Mapping[str, Any], file: str) -> Options:
    keys = {"texts": "documents", "tokens": "tokens", "items": "items", "texts_from": "texts"}  # by field of Options
    seeds = tuple(top.get("seeds", [0]))
    try:
        options = Options(**{field: top[key] for field, key in keys.items() if key in top}, seeds=seeds)
        for name in _as_list(top["experiments"]):
            if name in every_experiment() and declared_value(name, "NEEDS_ITEMS"):
                options.need_items(name)
        return options
    except ThesisError as error:
        raise DataError(f"{file}: {error}") from None


def _read_settings(settings: Mapping[str, Any], experiments: Sequence[str], file: str) -> dict[str, dict[str, Any]]:
    for name, options in settings.items():
        if name not in experiments:
            raise DataError(
                f"{file}: settings.{name} is for an experiment that the recipe does not run; add it to experiments, or "
                "remove the settings"
            )
        rules.require(options, rules.mapping(settings_of(name)), f"{file}: settings.{name}")
    return dict(settings)
