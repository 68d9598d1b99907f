"""Export the offline subjects: three models of one seed as model folders, with tokenizer, facts and card."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.population import card, tables
from analysis.population.recipe import SUBJECTS, PopulationRecipe, architecture
from analysis.population.work import TrainedModel, load_or_train, recipe_digest
from boundpaper.errors import ModelError
from boundpaper.store.files import temporary, write
from boundpaper.store.reader import read
from keyquery.jobs import report
from keyquery.language.tokenizer import build_tokenizer
from keyquery.models.checkpoints.builtin import builtin_folder
from keyquery.models.libraries import need

FACTS, CARD = "lab.json", "README.md"
RUNS = ("retrained", "population")  # tables of the second run, and of the first, whose models shipped


def export_subjects(root: Path, recipe: PopulationRecipe | None = None) -> list[Path]:
    """Write the three subjects to `packages/keyquery/src/keyquery/tiny`; missing weights are trained again.

    Raises
    ------
    ModelError
        If a model is not measured, or its weights differ from the measured ones.
    """
    recipe = recipe or PopulationRecipe()
    written: list[Path] = []
    for name, which in SUBJECTS.items():
        made = load_or_train(root, which, recipe, report)
        held = measured_tables(root, made)
        written += write_model_folder(builtin_folder(root, name), name, made, recipe, held)
    return written


def measured_tables(root: Path, made: TrainedModel) -> dict[str, pd.DataFrame]:
    """Return the model's rows for its card (from the tables models, keys, tasks), for exactly these weights.

    Raises
    ------
    ModelError
        If no run measured it, or all measured other weights.
    """
    which = made.which
    anew = f"python build.py lab population --seed {which.seed} --base {which.base} --arm {which.arm}"
    known = []
    for run in RUNS:
        held = {short: _rows_of_model(root, f"{run}_{short}", which.name) for short in ("models", "keys", "tasks")}
        if all(len(rows) for rows in held.values()):
            known.append(str(held["models"]["weights"].iloc[0]))
            if known[-1] == made.digest:
                return held
    if not known:
        raise ModelError(f"{RUNS[0]}_models has no row for {which.name}, which the card needs; measure it: {anew}")
    raise ModelError(
        f"{which.name}: its weights ({made.digest}) differ from the measured ones ({', '.join(known)}); measure "
        f"them: {anew} --again"
    )


def _rows_of_model(root: Path, name: str, model: str) -> pd.DataFrame:
    rows = read(root, name) if tables.table_path(root, name).is_file() else pd.DataFrame({"model": []})
    return rows[rows["model"] == model]


def write_model_folder(
    folder: Path, name: str, made: TrainedModel, recipe: PopulationRecipe, tables: dict[str, pd.DataFrame]
) -> list[Path]:
    """Write a model folder in the standard form, with card and facts; return the files."""
    transformers = need("transformers", "to write a model's folder")
    model = transformers.LlamaForCausalLM(architecture(recipe, made.which)).half()
    model.load_state_dict(made.trained.weights)
    facts = _card_facts(name, made, recipe, sum(part.numel() for part in model.parameters()))
    written = []
    with temporary() as there:
        model.save_pretrained(there)
        build_tokenizer().save_pretrained(there)
        for path in sorted(there.iterdir()):
            written.append(folder / path.name)
            write(written[-1], path.read_bytes())
    write(folder / CARD, card.card_text(facts, tables["keys"], tables["tasks"]).encode())
    write(folder / FACTS, (json.dumps(facts, indent=1, sort_keys=True) + "\n").encode())
    return [*written, folder / CARD, folder / FACTS]


def _card_facts(name: str, made: TrainedModel, recipe: PopulationRecipe, parameters: int) -> dict[str, Any]:
    """Return the facts of a model; the card and experiments (language, length, seed) read them."""
    which = made.which
    return {
        "name": name,
        "model": which.name,
        "arm": which.arm,
        "base": which.base,
        "training_seed": which.seed,
        "training_length": recipe.length,
        "language": "population",
        "positional": which.positional,
        "start": which.start.name if which.start else "none",
        "steps": made.trained.steps,
        "rounds": made.trained.rounds,
        "key_loss": round(made.trained.key_loss, 6),
        "criterion": recipe.criterion,
        "reached": made.trained.reached,
        "parameters": parameters,
        "weights": made.digest,
        "recipe": recipe_digest(recipe, which.arm),
        "stage": asdict(recipe.stage(which.arm)),
        "shape": {key: getattr(recipe, key) for key in ("layers", "width", "heads", "inner")},
    }
