"""Run distillation as a command: train both arms in turn; write checkpoints, model folders and training curves."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.distil.recipe import ARMS, DistilRecipe, recipe_of
from analysis.distil.student import Student, Teacher, load_model
from analysis.distil.windows import read_windows
from boundpaper.errors import ModelError, SpecError, ThesisError
from keyquery.measure.bar import open_bar
from keyquery.measure.measurements import save
from keyquery.models.attention.encodings import encoding_name
from keyquery.models.checkpoints import pretrained
from keyquery.models.checkpoints.identity import fingerprint
from keyquery.models.checkpoints.loading import AS_CONFIGURED
from keyquery.models.libraries import need, version

HOME = "out/distil"
EXPERIMENT = "distillation"
DEFAULT_RECIPE = "short"  # omitted from file names, like seed 0
NEEDED_BYTES = 5 << 30  # free disk space, for the checkpoints and models of two arms
LIBRARIES = ("torch", "transformers")


def run(
    root: Path,
    model: str = "smollm2-135m",
    *,
    arms: Sequence[str] = (),
    seed: int = 0,
    name: str = DEFAULT_RECIPE,
    steps: int | None = None,
    recipe: DistilRecipe | None = None,
) -> list[Path]:
    """Distil the arms up to a step, resuming from checkpoints; return the tables and folders written.

    Arms are trained in turns, so after an interruption both are at the same step or one turn apart.

    Parameters
    ----------
    root : Path
        Folder of the project.
    model : str
        The teacher: a packaged model, a GGUF file or a folder.
    arms : sequence of str
        Names from `recipe.ARMS`; if empty, both.
    seed : int
        Seed for the order of the windows.
    name : str
        Name of the recipe.
    steps : int or None
        Step at which to stop (None: the recipe's last step); the schedule does not change.
    recipe : DistilRecipe or None
        Recipe to use instead of the named one.

    Raises
    ------
    SpecError
        If recipe or arm is unknown, or `steps` is outside the schedule.
    ModelError
        If the teacher cannot be loaded or has no rotation, or a checkpoint belongs to another training run.
    DataError
        If a set of texts is not installed.
    """
    recipe, chosen_arms = recipe or recipe_of(name), list(arms) or list(ARMS)
    if unknown_arms := [arm for arm in chosen_arms if arm not in ARMS]:
        raise SpecError(f"arm {unknown_arms[0]!r} is unknown; give one of {', '.join(ARMS)}")
    end = recipe.steps if steps is None else steps
    if not 0 < end <= recipe.steps:
        raise SpecError(f"--steps {end}: the recipe {name} has steps 1 to {recipe.steps}; for more steps, add a recipe")
    torch = need("torch", "to distil a model")
    torch.set_num_threads(1)
    if shutil.disk_usage(root).free < NEEDED_BYTES:
        raise ThesisError(f"{root}: the checkpoints of two arms need {NEEDED_BYTES >> 30} GiB of free disk; free some")
    folder = teacher_folder(root, model)
    loaded = load_model(folder, AS_CONFIGURED)
    if (kind := encoding_name(loaded.model.config)) in ("drope", "none"):
        raise ModelError(f"{model}: has no rotary embedding ({kind}) to remove; give a teacher that has one")
    windows = read_windows(recipe, loaded.tokenizer)
    facts = {
        "teacher": fingerprint(folder),
        "windows": windows.digest,
        "threads": torch.get_num_threads(),
        "versions": {library: version(library) for library in LIBRARIES},
    }
    home = root / HOME / f"{folder.name}-{name}-s{seed}"
    teacher = Teacher(loaded.model, recipe, windows)
    students = [Student(arm, recipe, seed, folder, teacher, home / arm, facts) for arm in chosen_arms]
    with open_bar("steps") as bar:
        while (step := min(student.step for student in students)) < end:
            turn_end = min(end, (step // recipe.every + 1) * recipe.every)
            for student in students:
                student.train_to(turn_end)
                divergences = {row["text"]: row["value"] for row in student.rows if row["metric"] == "kl"}
                losses = ", ".join(f"{text} {value:.3f}" for text, value in divergences.items())
                bar.say(f"{student.arm}, step {student.step} of {end}: held-out KL {losses}")
            for student in students:
                _save_table(root, folder.name, student, name, model)
    paths = [_save_table(root, folder.name, student, name, model) for student in students]
    return [*paths, *(_export_student(home, folder, student, loaded.tokenizer) for student in students)]


def teacher_folder(root: Path, model: str) -> Path:
    """Return the folder of the teacher, which is given as a packaged model, a GGUF file or a folder.

    Raises ModelError if there is no such model.
    """
    if model in pretrained.PACKAGES:
        return pretrained.from_package(root, model)
    if model.endswith(".gguf"):
        return pretrained.from_file(root, Path(model))
    if not (Path(model) / "config.json").is_file():
        raise ModelError(
            f"{model}: not a model; give {' or '.join(pretrained.PACKAGES)}, a GGUF file or a folder with config.json"
        )
    return Path(model)


def _save_table(root: Path, teacher: str, student: Student, name: str, model: str) -> Path:
    manifest: dict[str, Any] = {
        "command": f"python build.py lab distil --model {Path(model).name} --recipe {name} --seed {student.seed}",
        "training_seed": student.seed,
        "step": student.step,
        **student.facts,
        "recipe": student.recipe.facts(),
    }
    table = pd.DataFrame(student.rows).assign(of=student.recipe.steps)
    suffix = ("" if name == DEFAULT_RECIPE else f"-{name}") + (f"-s{student.seed}" if student.seed else "")
    (path,) = save(root, {EXPERIMENT: table}, f"{teacher}-{student.arm}{suffix}", manifest)
    return path


def _export_student(home: Path, teacher: Path, student: Student, tokenizer: Any) -> Path:
    """Save the student as an ordinary model folder, with the position encoding in the configuration."""
    folder = home / f"{teacher.name}-{student.arm}"
    unfinished = home / f".{folder.name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    student.model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    return folder
