"""Run the command `bench lbp`: score a model's answers, given as files or generated, and write measurements."""

import hashlib
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
from keyquery.models.checkpoints.builtin import resolve
from keyquery.models.checkpoints.loading import ModelSource, load
from keyquery.models.libraries import need
from keyquery.models.similarity import load_similarity
from keyquery.scores.blocks import ROLES, write_block
from keyquery.scores.lbp import data as lbp_data
from keyquery.scores.lbp import predictions as lbp_predictions
from keyquery.scores.lbp import run as lbp_run
from keyquery.scores.lbp import scores as lbp_scores
from keyquery.scores.lbp.data import Sample
from keyquery.scores.lbp.predictions import Prediction
from keyquery.scores.lbp.tasks import DATA, LENGTHS, MODES
from keyquery.scores.records import settings_beside

TABLE = "measured_lbp"
COLUMNS = "mode slice key metric value ci_low ci_high n samples data checkpoint role reason".split()
LIBRARIES = ("jieba", "numpy", "scikit-learn")
EMBEDDING = ("sentence-transformers", "torch", "transformers")


def run(
    root: Path,
    *,
    model: str,
    predictions: Sequence[Path] = (),
    generate: bool = False,
    data: str = DATA,
    data_name: str | None = None,
    name: str | None = None,
    mode: str | None = None,
    lengths: str | None = None,
    partial: bool = False,
    replace: bool = False,
    null: bool = False,
    embedder: str | None = None,
    runs: int = 3,
    batch: int = 1,
    limit: int | None = None,
    new_tokens: int | None = None,
    temperature: float | None = None,
    seed: int = 0,
    device: str = "auto",
    **loading: Any,
) -> list[str]:
    """Score predictions, or let a model answer and score its answers; return the tables' paths in the project.

    The parameters are the options of the command `bench lbp`, where `generate` is `--run`; `loading` are further fields
    of `ModelSource`. The model's answers are kept in `out/bench/lbp/NAME`, so a stopped run can be resumed. Raises
    DataError, ModelError or MissingDependency.
    """
    if generate == bool(predictions):
        raise DataError("give either prediction files (--predictions FILE...) or --run to make them")
    for library in ("sklearn.metrics", "jieba"):
        need(library, "to score LongBench Pro")
    name = checked_name(name or slug(model))
    selected_lengths = _parse_lengths(lengths)
    answers = lbp_predictions.read_predictions(predictions, mode)  # first, since samples may need a download
    samples = lbp_data.load_samples(data, selected_lengths)
    folder = root / "out/bench/lbp" / name
    settings: dict[str, Any] = {}
    libraries = (*LIBRARIES, *EMBEDDING) if embedder else LIBRARIES
    command_options = ["--predictions FILE..."]
    if generate:
        path_or_id = resolve(root, model)
        source = ModelSource(path_or_id, device=device, **loading)
        options = lbp_run.LbpSettings(
            mode=mode or MODES[0],
            runs=runs,
            batch=batch,
            limit=limit,
            new_tokens=new_tokens,
            temperature=temperature,
            seed=seed,
        )
        with about(path_or_id, ModelError), open_bar("answers") as progress:
            path = lbp_run.answer(load(source), samples, options, folder, progress)
        answers = lbp_predictions.read_predictions([path], options.mode)
        settings = {"answers": settings_beside(path)}
        libraries = tuple(dict.fromkeys((*libraries, "torch", "transformers")))
        command_options = lbp_run.command_options(options)
    by_mode = lbp_predictions.predictions_by_mode(answers, samples, str(data))
    similarity = load_similarity(embedder, device) if embedder else None
    tables = {}
    for label, mode_answers in by_mode.items():
        if not partial:
            lbp_predictions.require_complete(samples, mode_answers, label)
        scores = lbp_scores.score_samples(samples, mode_answers, similarity)
        write(folder / f"{label}.scores.csv", scores.to_csv(index=False, float_format="%.8g").encode())
        tables[label] = lbp_scores.aggregate(scores, samples, embedded=similarity is not None)
    facts = {
        "data": data_name or (Path(data).stem if Path(data).exists() else data),
        "checkpoint": Path(model).name if Path(model).is_dir() else model,
        "role": ROLES[1] if null else ROLES[0],
    }
    paths = []
    for label, table in tables.items():
        arguments = [*command_options, f"--model {facts['checkpoint']}", f"--name {name}", f"--mode {label}"]
        arguments += [f"--data {facts['data']}"]
        arguments += [f"--lengths {','.join(selected_lengths)}"] * (selected_lengths != LENGTHS)
        arguments += [f"--embedder {embedder}"] * bool(embedder)
        arguments += ["--partial"] * partial + ["--null-reference"] * null
        manifest = {
            "command": f"python build.py bench lbp {' '.join(arguments)}",
            "versions": {library: importlib.metadata.version(library) for library in libraries},
            **_scoring_manifest(samples, by_mode[label]),
            **_count_thoughts(label, by_mode[label]),
            "summaries": f"ROUGE-L and {embedder}" if embedder else "ROUGE-L alone",
            **settings,
        }
        rows = table.assign(mode=label, **facts)[COLUMNS]
        path = write_block(
            root, TABLE, name, rows, manifest, column="mode", blocks=MODES, section="modes", replace=replace
        )
        paths.append(path.relative_to(root).as_posix())
        _print_score(label, table)
    return list(dict.fromkeys(paths))


def _parse_lengths(text: str | None) -> tuple[str, ...]:
    lengths = [length.strip().lower() for length in text.split(",") if length.strip()] if text else list(LENGTHS)
    unknown = [length for length in lengths if length not in LENGTHS]
    if unknown or not lengths:
        raise DataError(f"--lengths {text}: no length {', '.join(unknown) or 'given'}; give {', '.join(LENGTHS)}")
    return tuple(length for length in LENGTHS if length in lengths)


def _scoring_manifest(samples: Sequence[Sample], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Return the number of samples, and hashes of the questions and the predictions, for a manifest."""
    hasher = hashlib.blake2b(digest_size=16)
    for prediction in sorted(predictions, key=lambda prediction: (prediction.id, prediction.run)):
        hasher.update(f"{prediction.id}\0{prediction.run}\0{prediction.text}\0".encode())
    return {"samples": len(samples), "questions": lbp_data.fingerprint(samples), "predictions": hasher.hexdigest()}


def _count_thoughts(mode: str, predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Return, for a manifest, how many predictions have thinking, and how many of these have no answer; print both."""
    with_thoughts = [prediction for prediction in predictions if prediction.thoughts]
    if not with_thoughts:
        return {}
    unanswered = sum(not prediction.text for prediction in with_thoughts)
    print(
        f"{mode}: {len(with_thoughts)} of {len(predictions)} predictions have thinking, which is left out; "
        f"{unanswered} of them have no answer",
        file=sys.stderr,
    )
    return {"with_thoughts": len(with_thoughts), "with_thoughts_alone": unanswered}


def _print_score(mode: str, table: pd.DataFrame) -> None:
    row = table.iloc[0]
    value = f"{row['value']:.2f}" if pd.notna(row["value"]) else "none"
    interval = f" ({row['ci_low']:.2f} to {row['ci_high']:.2f})" if pd.notna(row["ci_low"]) else ""
    reason = f"; {row['reason']}" if row["reason"] else ""
    print(f"{mode}: overall {value}{interval}, {row['samples']} samples, {row['metric']}{reason}", file=sys.stderr)
