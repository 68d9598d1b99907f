"""Train and measure families of models as jobs, in the order of the plan."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.population import pack as packs
from analysis.population import tables, work
from analysis.population.recipe import ARMS, BASES, SEEDS, PopulationMember, PopulationRecipe
from boundpaper.store.reader import read
from keyquery.jobs import JobProgress, Resources, open_executor, run_jobs
from keyquery.measure.bar import open_bar

ORDER = ("ABC", "DE")  # arms that are trained together; the first group is finished for all seeds before the second


def planned_families(seeds: Sequence[int], bases: Sequence[int], arms: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return base, seed and arms of each job: A, B, C of the first base, then D and E, then the other base.

    The arm that never rotates has no base; it is listed with the primary base only.
    """
    jobs = []
    for base in bases:
        for together in ORDER:
            chosen = [arm for arm in together if arm in arms and (arm != "E" or base == BASES[0])]
            jobs += [(base, seed, "".join(chosen)) for seed in seeds if chosen]
    return jobs


def run(
    root: Path,
    *,
    seeds: Sequence[int] = (),
    bases: Sequence[str] = (),
    arms: Sequence[str] = (),
    again: bool = False,
    compare: bool = False,
    pack: Path | None = None,
    weights: Path | None = None,
    jobs: int = 1,
    executor: str = "local",
    resources: Resources | None = None,
) -> list[str]:
    """Train and measure the requested models; return one line per model.

    Parameters
    ----------
    pack : Path or None
        Folder to write the requested models to, instead of measuring.
    weights : Path or None
        Folder, written by `pack`, to read models from, instead of training them.

    Raises
    ------
    ModelError
        If this folder lacks a model, or a model to pack is not measured.
    JobsFailed
        If a family failed; rows of the other families are written.
    """
    wanted = [base for base in BASES if not bases or str(base) in bases]
    asked = planned_families(seeds or SEEDS, wanted, [arm for arm in ARMS if arm in (arms or ARMS)])
    models = [PopulationMember(base, seed, arm) for base, seed, some in asked for arm in some]
    if pack is not None:
        return [str(place) for place in packs.pack(root, pack, models)]
    if compare:
        return [line for which in models for line in compare_with_stored(root, which, weights=weights)]
    known = tables.complete_models(root)
    missing = [
        (base, seed, some)
        for base, seed, some in asked
        if again or any(PopulationMember(base, seed, arm).name not in known for arm in some)
    ]
    if not missing:
        return [f"all {sum(len(some) for *_, some in asked)} models are measured; --again measures them again"]
    calls: list[dict[str, Any]] = [
        {"root": str(root), "base": base, "seed": seed, "arms": some, "again": again}
        | ({} if weights is None else {"weights": str(weights.absolute())})
        for base, seed, some in missing
    ]
    names = [f"base {base}, seed {seed}, {some}" for base, seed, some in missing]
    folder = root / work.HOME / "jobs"
    with open_bar("families") as shown, open_executor(executor, folder, workers=jobs, resources=resources) as pool:

        def tell(state: JobProgress) -> None:
            if state.event:
                shown.say(state.event)
            report = "; ".join(state.reports.values())
            shown.update(state.kept + state.done, state.total, report, state.seconds_left)

        # this run consulted the tables, which have the rows of finished families; a cached result of a job is
        # irrelevant, and a stopped family resumes in its existing folder
        version = work.recipe_digest(PopulationRecipe()) + (f"-{time.time_ns()}" if again else "")
        reports = run_jobs(
            work.train_family, calls, pool, folder, names=names, version=version, valid=lambda _: False, progress=tell
        )
    return [f"{model}: trained and measured" for some in reports for model in some]


def compare_with_stored(
    root: Path, which: PopulationMember, recipe: PopulationRecipe | None = None, weights: Path | None = None
) -> list[str]:
    """Measure a model and compare with the stored rows; return the largest difference in each table."""
    recipe = recipe or PopulationRecipe()
    if weights is not None:
        made = packs.read_packed(weights, which, recipe)
    else:
        made = work.load_or_train(root, which, recipe, lambda text: print(text, file=sys.stderr))
    lines = _rounding_note(root, which, made.trained.arithmetic)
    for name, rows in work.measure(made, recipe, tell=lambda text: None).items():
        mark, value = ("seed", which.seed) if name == tables.OF_SEEDS else ("model", which.name)
        old = read(root, name) if tables.table_path(root, name).is_file() else pd.DataFrame({mark: []})
        old = old[old[mark] == value].reset_index(drop=True)
        fresh = pd.DataFrame(rows).sort_values(list(tables.TABLES[name]), ignore_index=True)
        lines.append(f"{which.name}, {name}: {_difference(old, fresh)}")
    return lines


def _rounding_note(root: Path, which: PopulationMember, here: str) -> list[str]:
    """Return a warning if the stored rows are of a model trained with another rounding."""
    models = read(root, tables.MODELS) if tables.table_path(root, tables.MODELS).is_file() else pd.DataFrame()
    known = models[models["model"] == which.name]["arithmetic"] if len(models) else models
    if not len(known) or known.iloc[0] == here:
        return []
    return [
        f"{which.name}: its stored rows are of a training with arithmetic {known.iloc[0]}, this one had {here}, so "
        "weights and single keys differ; docs/measuring.md says how to select the other kernels"
    ]


def _difference(old: pd.DataFrame, new: pd.DataFrame) -> str:
    if len(old) != len(new):
        return f"{len(new)} rows, {len(old)} kept"
    numbers = [column for column in new.columns if pd.api.types.is_numeric_dtype(new[column])]
    others = [column for column in new.columns if column not in numbers]
    unlike = sum(int((old[column].astype(str) != new[column].astype(str)).sum()) for column in others)
    gaps = [np.abs(old[column].astype(float) - new[column].astype(float)).max() for column in numbers]
    return f"{len(new)} rows, largest difference {np.nanmax([0.0, *gaps]):.2g}, {unlike} words differ"
