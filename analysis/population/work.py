"""Train, measure and write models one after the other; each model's rows are written before the next one begins."""

import functools
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.population import ablation, experiments, geometry, outcomes, reach, tables
from analysis.population.arithmetic import joined
from analysis.population.recipe import PopulationMember, PopulationRecipe
from analysis.population.training import TrainingOutcome, model_of, train
from boundpaper.errors import ModelError, ThesisError
from boundpaper.store.files import write
from keyquery.jobs import report
from keyquery.models.libraries import need, version

HOME = "out/population"
FREE = 300 << 20  # bytes of disk that a family of models needs at most
LIBRARIES = ("torch", "transformers", "numpy")
Tables = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class TrainedModel:
    """A trained model: its place in the population, and its weights as they are published."""

    which: PopulationMember
    trained: TrainingOutcome

    @property
    def digest(self) -> str:
        """Hash of the weights."""
        state = hashlib.sha256()
        for name in sorted(self.trained.weights):
            state.update(name.encode())
            state.update(self.trained.weights[name].half().contiguous().numpy().tobytes())
        return state.hexdigest()[:16]


def train_family(
    root: str,
    base: int,
    seed: int,
    arms: str,
    again: bool = False,
    recipe: PopulationRecipe | None = None,
    weights: str | None = None,
) -> list[str]:
    """Train and measure the requested arms, one after the other, except those that already have rows.

    This is the work of one job. If an arm's weights are missing but other arms start from them, it is trained again.

    Parameters
    ----------
    root : str
        The project.
    base, seed : int
    arms : str
        Letters of `recipe.ARMS`, in order.
    again : bool
        Also measure models that already have rows.
    recipe : PopulationRecipe or None
        The recipe; if None, the default one.
    weights : str or None
        A folder, written by `pack.pack`, to read models from, instead of training them.

    Returns
    -------
    list of str
        Models whose rows were written.

    Raises
    ------
    ModelError
        If weights or a checkpoint belong to another recipe.
    ThesisError
        If there is too little space on the disk.
    """
    need("torch", "to train the population")
    need("transformers", "to train the population")
    from analysis.population.pack import read_packed

    place, recipe, written = Path(root), recipe or PopulationRecipe(), []
    if shutil.disk_usage(place).free < FREE:
        raise ThesisError(f"{place}: less than {FREE >> 20} MiB of disk are free, which a family of models needs")
    for arm in arms:
        which = PopulationMember(base, seed, arm)
        wanted = list(tables.TABLES) if again else tables.missing_tables(place, which.name)
        if not wanted:
            continue
        start = time.process_time()
        made = load_or_train(place, which, recipe) if weights is None else read_packed(Path(weights), which, recipe)
        middle = time.process_time()
        rows = measure(made, recipe, wanted)
        tables.add_rows(place, rows, manifest(recipe))
        _write_times(place, which, middle - start, time.process_time() - middle)
        written.append(which.name)
    return written


def load_or_train(
    root: Path, which: PopulationMember, recipe: PopulationRecipe, tell: Callable[[str], None] = report
) -> TrainedModel:
    """Load the model from its file below `out/population/weights`, or train it; torch then uses one thread."""
    torch = need("torch")
    torch.set_num_threads(1)
    path = root / HOME / "weights" / f"{which.name}.pt"
    asked = asked_for(which, recipe)
    if path.is_file():
        try:
            saved = torch.load(path, weights_only=True)
            old, facts, weights = saved["made"], saved["facts"], saved["weights"]
        except Exception as error:  # torch may raise anything for a damaged file
            raise ModelError(f"{path}: damaged ({type(error).__name__}); delete it: rm {path}") from error
        if old != asked:
            raise ModelError(f"{path}: belongs to another recipe ({differing(old, asked)}); delete it: rm {path}")
        if "arithmetic" not in facts:
            raise ModelError(
                f"{path}: its version did not record its arithmetic; use that version, or delete it: rm {path}"
            )
        return TrainedModel(which, TrainingOutcome({name: part.float() for name, part in weights.items()}, **facts))
    start = load_or_train(root, which.start, recipe, tell).trained if which.start else None
    least = load_or_train(root, which.matched, recipe, tell).trained.rounds if which.matched else 0
    begun = time.monotonic()
    first: list[int] = []

    def report_step(done: int, most: int, line: str) -> None:
        if not first:
            first.append(done)
        if done % 10 == 0:
            left = (time.monotonic() - begun) / max(1, done - first[0]) * (most - done) / 60
            tell(f"{line}, step {done} of {most}, {left:.0f} min left")

    made = train(recipe, which, start.weights if start else None, root / HOME / "work" / which.name, report_step, least)
    if start:
        made.arithmetic = joined(made.arithmetic, start.arithmetic)
    facts = {name: value for name, value in vars(made).items() if name != "weights"}
    _keep(path, {"made": asked, "facts": facts, "weights": {name: part.half() for name, part in made.weights.items()}})
    return TrainedModel(which, made)


def _keep(path: Path, content: dict[str, Any]) -> None:
    import io

    stream = io.BytesIO()
    need("torch").save(content, stream)
    write(path, stream.getvalue())


def asked_for(which: PopulationMember, recipe: PopulationRecipe) -> dict[str, Any]:
    """Return everything that determines a training run: the model, and the part of the recipe that its arm needs."""
    return {"model": which.name, "recipe": json.loads(json.dumps(recipe.facts(which.arm)))}


def differing(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return the settings of the recipe in which two values of `asked_for` differ."""
    one, two = old.get("recipe", {}), new["recipe"]
    return ", ".join(sorted(name for name in {*one, *two} if one.get(name) != two.get(name))) or "another model"


def measure(
    made: TrainedModel,
    recipe: PopulationRecipe,
    wanted: Sequence[str] = tuple(tables.TABLES),
    tell: Callable[[str], None] = report,
) -> Tables:
    """Return the requested tables of a model, with the model's name in the first column."""
    which = made.which
    model = model_of(recipe, which, made.trained.weights)
    model.train(False)

    def tell_with_name(text: str) -> None:
        tell(f"{which.name}: {text}")

    questions = outcomes.KeyQuestions(model, which, recipe, tell_with_name)
    beyond = functools.cache(lambda: reach.reach_rows(model, recipe))
    makers: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "retrained_heads": lambda: geometry.head_rows(model, recipe),
        "retrained_reach": lambda: beyond()["retrained_reach"],
        "retrained_aligned": lambda: beyond()["retrained_aligned"],
        "retrained_exchange": lambda: beyond()["retrained_exchange"],
        "retrained_keys": lambda: outcomes.key_rows(questions, which),
        "retrained_extensions": lambda: outcomes.extension_rows(questions, which),
        "retrained_tasks": lambda: outcomes.task_rows(model, which, recipe, tell_with_name),
        "retrained_losses": lambda: outcomes.loss_rows(model, recipe),
        "retrained_ablation": lambda: ablation.ablation_rows(model, which, recipe, tell_with_name),
        "retrained_quantities": lambda: experiments.experiment_rows(model, which, recipe, tell_with_name),
        "retrained_curves": lambda: made.trained.curves,
        "retrained_models": lambda: [model_row(made, recipe)],
    }
    tell_with_name("measuring")
    by_table = {name: make() for name, make in makers.items() if name in wanted}
    named = {name: [{"model": which.name, **row} for row in rows] for name, rows in by_table.items()}
    if "retrained_keys" not in wanted:  # letters are in the order of the prompts
        return named
    prompts = [{"seed": which.seed, **row} for row in outcomes.prompt_rows(which.seed, recipe)]
    return {**named, tables.OF_SEEDS: prompts}


def model_row(made: TrainedModel, recipe: PopulationRecipe) -> dict[str, Any]:
    """Return the model's row in the table of models."""
    which, trained = made.which, made.trained
    return {
        "arm": which.arm,
        "base": 0 if which.arm == "E" else which.base,
        "seed": which.seed,
        "positional": which.positional,
        "start": which.start.name if which.start else "none",
        "steps": trained.steps,
        "rounds": trained.rounds,
        "key_loss": trained.key_loss,
        "reached": trained.reached,
        "arithmetic": trained.arithmetic,
        "weights": made.digest,
        "recipe": recipe_digest(recipe, which.arm),
    }


def recipe_digest(recipe: PopulationRecipe, arm: str = "") -> str:
    """Return a hash of the recipe, or of what an arm's training depends on."""
    return hashlib.sha256(json.dumps(recipe.facts(arm), sort_keys=True).encode()).hexdigest()[:16]


def manifest(recipe: PopulationRecipe) -> dict[str, Any]:
    """Return the tables' manifest, without times or facts of the machine."""
    return {
        "command": "python build.py lab population",
        "threads": 1,
        "recipe": asdict(recipe),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _write_times(root: Path, which: PopulationMember, training: float, measuring: float) -> None:
    """Write a model's CPU seconds beside its weights; they depend on this machine, so they are not results."""
    path = root / HOME / "times.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        path.write_text("model,training,measuring\n", encoding="utf-8")
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"{which.name},{training:.0f},{measuring:.0f}\n")
