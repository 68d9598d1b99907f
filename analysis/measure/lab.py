"""The command that trains the tiny pair: below `out/lab`, with a bar, its curves among the measurements."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.lab.recipe import POSITIONS, Recipe
from analysis.lab.training import Trained, train
from analysis.measure.bar import bar
from analysis.measure.measurements import save
from analysis.models.libraries import need, version
from artifacts.store.files import write

EXPERIMENT = "lab_training"
PUBLISHED_SEED = 0  # whose pair the repository holds
LIBRARIES = ("torch", "transformers", "numpy")


@dataclass(frozen=True)
class Made:
    """What the command reports: folders of the two models, tables written, seconds, and a line of advice."""

    trained: Trained
    tables: list[Path]
    installed: list[Path]
    seconds: float
    advice: str


def run(
    root: Path,
    seed: int = PUBLISHED_SEED,
    resume: bool = False,
    *,
    install: bool = False,
    recipe: Recipe | None = None,
    threads: int = 1,
) -> Made:
    """Train the pair of a seed into `out/lab/s<seed>` and write the measurements `lab_training`.

    Parameters
    ----------
    root : Path
        The project.
    seed : int
        Of the training.
    resume : bool
        Go on where an earlier run was stopped.
    install : bool
        Also put the pair at `artifacts/models`, where experiments find it.
    recipe : Recipe or None
        The default recipe when None.
    threads : int
        Of torch; another number may give other weights.

    Raises
    ------
    ModelError
        See `analysis.lab.training.train`.
    """
    start, recipe, folder = time.monotonic(), recipe or Recipe(), root / f"out/lab/s{seed}"
    with bar("steps") as shown:
        first: list[int] = []

        def tell(done: int, total: int, text: str) -> None:
            first.append(done) if not first else None
            rate = (done - first[0]) / max(time.monotonic() - start, 1e-9)
            shown.update(done, total, text, (total - done) / rate if rate > 0 else None)

        trained = train(folder, seed, work=folder, resume=resume, tell=tell, recipe=recipe, threads=threads)
    tables = record(root, trained, seed, recipe, threads)
    installed = [file for positional in POSITIONS for file in _installed(root, trained, positional)] if install else []
    return Made(trained, tables, installed, time.monotonic() - start, _advice(root, seed, install))


def record(root: Path, trained: Trained, seed: int, recipe: Recipe, threads: int) -> list[Path]:
    """Write the curves of both models: `tiny-rope` of the published seed, `tiny-rope-s1` of another."""
    curves, paths = pd.DataFrame(trained.curves), []
    for positional in POSITIONS:
        name = f"tiny-{positional}" + (f"-s{seed}" if seed != PUBLISHED_SEED else "")
        shape = pd.DataFrame(_shape(trained.folders[positional], positional, recipe))
        mine = curves[curves["positional"] == positional]
        table = pd.concat([shape, mine], ignore_index=True)
        paths += save(root, {EXPERIMENT: table}, name, _manifest(seed, positional, recipe, threads))
    return paths


def _shape(folder: Path, positional: str, recipe: Recipe) -> list[dict[str, Any]]:
    """Rows of the phase `recipe`: what the model is and what it was trained on."""
    safetensors = need("safetensors", "to count parameters")
    with safetensors.safe_open(folder / "model.safetensors", "np") as held:
        sizes = [math.prod(held.get_slice(name).get_shape()) for name in held.keys()]  # noqa: SIM118
    phase = recipe.phase(positional)
    tokens = sum(recipe.rows * phase.length(step, recipe.length) for step in range(phase.steps))
    facts = {
        "parameters": sum(sizes),
        "layers": recipe.layers,
        "heads": recipe.heads,
        "width": recipe.width,
        "training_length": recipe.length,
        "steps": phase.steps,
        "tokens": tokens,
    }
    return [
        {"positional": positional, "step": 0, "phase": "recipe", "metric": name, "value": value, "n": 1, "reason": ""}
        for name, value in facts.items()
    ]


def _manifest(seed: int, positional: str, recipe: Recipe, threads: int) -> dict[str, Any]:
    return {
        "command": f"python build.py lab train --seed {seed}",
        "training_seed": seed,
        "positional": positional,
        "threads": threads,
        "recipe": recipe.facts(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _installed(root: Path, trained: Trained, positional: str) -> list[Path]:
    source, target = trained.folders[positional], root / "artifacts/models" / f"tiny-{positional}"
    files = sorted(path for path in source.iterdir() if path.is_file())
    for path in files:
        write(target / path.name, path.read_bytes())
    return [target / path.name for path in files]


def _advice(root: Path, seed: int, install: bool) -> str:
    if install:
        return f"the pair of seed {seed} stands in artifacts/models"
    if seed == PUBLISHED_SEED:
        return "to use this pair in experiments, run it again with --install, or copy both folders to artifacts/models"
    return f"to measure this pair, name its folders: --model out/lab/s{seed}/tiny-rope"
