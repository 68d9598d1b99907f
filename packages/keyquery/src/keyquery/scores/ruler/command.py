"""Run the command `bench ruler`: score results of lm-evaluation-harness, or answers to needles in generated noise."""

import importlib.metadata
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from boundpaper.errors import DataError, ModelError, about
from boundpaper.store.files import write
from keyquery.measure.bar import open_bar
from keyquery.measure.measurements import checked_name, slug
from keyquery.models import libraries
from keyquery.models.checkpoints.builtin import resolve
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.scores.blocks import ROLES, write_block
from keyquery.scores.ruler import harness as ruler_harness
from keyquery.scores.ruler import needles as ruler_needles
from keyquery.scores.ruler import results as ruler_results
from keyquery.scores.ruler import run as ruler_run
from keyquery.scores.ruler.scores import MEAN, TASKS, length_tokens, lengths_of, tabulate

TABLE = "measured_ruler"
DATA = BENCHMARK, NOISE = "RULER", "needles in noise"
NEEDLES = "needles"


def run(
    root: Path,
    *,
    model: str,
    results: Sequence[Path] = (),
    generate: bool = False,
    tasks: str | None = None,
    lengths: str | None = None,
    samples: int = 500,
    batch: int = 1,
    chat_template: bool = False,
    harness: str | None = None,
    name: str | None = None,
    partial: bool = False,
    replace: bool = False,
    null: bool = False,
    seed: int = ruler_needles.SEED,
    **loading: Any,
) -> list[str]:
    """Score a model on RULER or on needles in generated noise; return the table's path in the project, in a list.

    The parameters are the options of the command `bench ruler`, where `generate` is `--run`; `loading` are fields of
    `ModelSource`. RULER is scored from result files of lm-evaluation-harness, which are given or made here. Finished
    work is kept in `out/bench/ruler/NAME`, so a stopped run can be resumed. Raises DataError, ModelError or
    MissingDependency.
    """
    if generate == bool(results):
        raise DataError("give either result files (--results FILE...) or --run to make them")
    name = checked_name(name or slug(model))
    selected_lengths, selected_tasks = lengths_of(lengths), _parse_tasks(tasks, generate)
    folder = root / "out/bench/ruler" / name
    path_or_id = resolve(root, model) if generate else model
    source = ModelSource(path_or_id, **loading)
    in_noise = selected_tasks[0] in ruler_needles.TASKS
    settings: dict[str, Any]
    if generate and in_noise:
        options = ruler_run.RulerSettings(
            tasks=selected_tasks,
            lengths=selected_lengths,
            samples=samples,
            seed=seed,
            batch=batch,
            chat_template=chat_template,
        )
        with about(path_or_id, ModelError), open_bar("needles") as progress:
            loaded = load(source)
            path = ruler_run.answer_needles(loaded, options, folder, progress)
        cells = ruler_run.score_records(path, options)
        settings = {"answers": ruler_run.answer_settings(loaded, options)}
        versions = {library: importlib.metadata.version(library) for library in ("torch", "transformers")}
    else:
        if generate:
            program = ruler_harness.harness_command(harness)
            _require_positions(source, selected_lengths)
            results = ruler_harness.run_harness(
                program,
                source,
                selected_tasks,
                selected_lengths,
                samples=samples,
                batch=batch,
                chat_template=chat_template,
                seed=seed,
                folder=folder / "harness",
            )
        harness_results = ruler_results.read(results)
        if slug(harness_results.model) != slug(model):
            raise DataError(
                f"{results[0]}: has results of {harness_results.model}, not of {model}; give --model as in the file, "
                "and --name for the name of the measurements"
            )
        cells = [cell for cell in harness_results.cells if lengths is None or cell.length in selected_lengths]
        if not partial:
            ruler_results.require_complete(cells, selected_tasks, selected_lengths)
        settings = harness_results.facts
        versions = {"lm_eval": ", ".join(harness_results.facts["harness"])}
    arguments = ["--run"] if generate else ["--results FILE..."]
    if generate:
        task_names = NEEDLES if selected_tasks == ruler_needles.TASKS else ",".join(selected_tasks)
        arguments += [f"--tasks {task_names}"] * (selected_tasks != TASKS)
        arguments += [f"--samples {samples}"] * (samples != ruler_harness.SAMPLES)
        arguments += [f"--seed {seed}"] * (seed != ruler_needles.SEED) + [f"--batch {batch}"] * (batch != 1)
        arguments += ["--chat-template"] * chat_template
    arguments += [f"--lengths {','.join(selected_lengths)}"] * (lengths is not None)
    arguments += ["--partial"] * partial + ["--null-reference"] * null
    checkpoint = Path(model).name if Path(model).is_dir() else model
    table = tabulate(cells, ruler_needles.TASKS if in_noise else TASKS, ruler_needles.MEAN if in_noise else MEAN)
    write(folder / ("needles.scores.csv" if in_noise else "scores.csv"), table.to_csv(index=False).encode())
    facts = {"data": NOISE if in_noise else BENCHMARK, "checkpoint": checkpoint, "role": ROLES[1 if null else 0]}
    manifest = {
        "command": f"python build.py bench ruler --model {checkpoint} {' '.join(arguments)} --name {name}",
        "versions": versions,
        **settings,
    }
    rows = table.assign(**facts)
    path = write_block(root, TABLE, name, rows, manifest, column="data", blocks=DATA, section="blocks", replace=replace)
    _print_scores(table)
    return [path.relative_to(root).as_posix()]


def _parse_tasks(text: str | None, generate: bool) -> tuple[str, ...]:
    if text is not None and not generate:
        raise DataError("--tasks needs --run; result files name their tasks")
    if text is None or text == "all":
        return TASKS
    if text == NEEDLES:
        return ruler_needles.TASKS
    names = [name.strip() for name in text.split(",") if name.strip()]
    for tasks in (ruler_needles.TASKS, TASKS):
        if names and set(names) <= set(tasks):
            return tuple(task for task in tasks if task in names)
    raise DataError(
        f"--tasks {text}: give {NEEDLES}, or some of {', '.join(ruler_needles.TASKS)} (generated noise), or some of "
        f"{', '.join(TASKS)} (lm-evaluation-harness), not of both"
    )


def _require_positions(source: ModelSource, lengths: Sequence[str]) -> None:
    """Raise ModelError for lengths above the model's number of positions, which is read without loading the model."""
    transformers = libraries.transformers
    try:
        config = transformers.AutoConfig.from_pretrained(
            source.name, revision=source.revision, trust_remote_code=source.trust_remote_code
        )
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"{source.name}: its configuration cannot be read ({reason}); check --model") from error
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    ruler_run.require_positions(source.name, positions, [(length, length_tokens(length)) for length in lengths])


def _print_scores(table: pd.DataFrame) -> None:
    for _, row in table[table["slice"].isin(["mean", "summary"])].iterrows():
        interval = f" ({row['ci_low']:.1f} to {row['ci_high']:.1f})" if pd.notna(row["ci_low"]) else ""
        pattern = "{:,.0f}" if row["unit"] == "tokens" else "{:.1f}"
        value = "none" if pd.isna(row["value"]) else pattern.format(row["value"])
        print(f"{row['key']} {row['length']}: {value}{interval}; {row['reason']}".rstrip("; "), file=sys.stderr)
