"""Pack all trained models into one folder with cards and checksums, and read models from such a folder.

`FOLDER/MODEL` is a standard model folder (half precision, tokenizer, card), plus `training.json`: recipe, arithmetic
and curves of the training. `FOLDER/SHA256SUMS` names every file, as `sha256sum --check` reads it.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.population.export import measured_tables, write_model_folder
from analysis.population.recipe import PopulationMember, PopulationRecipe
from analysis.population.training import TrainingOutcome
from analysis.population.work import TrainedModel, asked_for, differing, load_or_train
from boundpaper.errors import ModelError
from boundpaper.store.files import write
from keyquery.jobs import report
from keyquery.models.libraries import need

TRAINING, WEIGHTS, SUMS, README = "training.json", "model.safetensors", "SHA256SUMS", "README.md"
TIED = ("lm_head.weight", "model.embed_tokens.weight")  # one matrix under two names, saved only under the second
TEXT = """# Models of the population

{count} small language models that differ in their positions, trained by one recipe. Each folder holds one model as
`transformers` loads it, a card that says what it was measured to do, and `{training}`, which says how it was trained.
`sha256sum --check {sums}` tells whether a file is damaged. `python build.py lab population --weights FOLDER` measures
these models in place of training them.
"""


def pack(
    root: Path, folder: Path, models: Sequence[PopulationMember], recipe: PopulationRecipe | None = None
) -> list[Path]:
    """Add models to a folder; models whose weights are missing are trained first.

    Returns
    -------
    list of Path
        The models' folders.

    Raises
    ------
    ModelError
        If a model is not measured, or its weights differ from the measured ones.
    """
    recipe, places = recipe or PopulationRecipe(), []
    sums = _stored_checksums(folder) if (folder / SUMS).is_file() else {}
    for which in models:
        made = load_or_train(root, which, recipe, report)
        place = folder / which.name
        files = write_model_folder(place, which.name, made, recipe, measured_tables(root, made))
        facts = {name: value for name, value in vars(made.trained).items() if name != "weights"}
        write(place / TRAINING, (json.dumps({"made": asked_for(which, recipe), "facts": facts}) + "\n").encode())
        for path in (*files, place / TRAINING):
            sums[path.relative_to(folder).as_posix()] = _file_digest(path)
        places.append(place)
    count = len({name.partition("/")[0] for name in sums if "/" in name})
    write(folder / README, TEXT.format(count=count, training=TRAINING, sums=SUMS).encode())
    sums[README] = _file_digest(folder / README)
    write(folder / SUMS, "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode())
    return places


def read_packed(folder: Path, which: PopulationMember, recipe: PopulationRecipe) -> TrainedModel:
    """Read a model from a folder that `pack` wrote, instead of training it; torch then uses one thread.

    Raises
    ------
    ModelError
        If the folder lacks the model, a file is damaged, or the model was trained by another recipe.
    """
    torch, safetensors = need("torch"), need("safetensors.torch", "to read packed models")
    torch.set_num_threads(1)
    known = _stored_checksums(folder)
    for name in (TRAINING, WEIGHTS):
        key = f"{which.name}/{name}"
        if key not in known or not (folder / key).is_file():
            raise ModelError(f"{folder}: has no {key}; give a folder that has it, or leave --weights out to train it")
        if _file_digest(folder / key) != known[key]:
            raise ModelError(f"{folder / key}: damaged, its checksum is not that of {SUMS}; get the folder again")
    training: dict[str, Any] = json.loads((folder / which.name / TRAINING).read_text(encoding="utf-8"))
    asked = asked_for(which, recipe)
    if training["made"] != asked:
        raise ModelError(f"{folder / which.name}: belongs to another recipe ({differing(training['made'], asked)})")
    weights = {name: part.float() for name, part in safetensors.load_file(folder / which.name / WEIGHTS).items()}
    weights.setdefault(TIED[0], weights[TIED[1]])
    return TrainedModel(which, TrainingOutcome(weights, **training["facts"]))


def _stored_checksums(folder: Path) -> dict[str, str]:
    path = folder / SUMS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); give a folder that --pack wrote") from None
    found: dict[str, str] = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise ModelError(f"{path}: {line[:40]!r} is not a checksum with a file name; get the folder again")
        found[name] = digest
    return found


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
