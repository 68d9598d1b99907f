"""Read prediction files: a JSON object per line with `id`, `mode`, `prediction` and, with several runs, `run`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.cached_files import SEAL, hash_fault
from boundpaper.store.json_lines import line_values
from boundpaper.store.validation import cut_to_line, short
from keyquery.models.answers.thoughts import split_thoughts
from keyquery.scores.lbp.data import Sample
from keyquery.scores.lbp.tasks import MODES

MAX_SHOWN = 3  # largest number of ids in a message
NULL_ADVICE = {
    "id": "write the id of the sample that was answered",
    "mode": f"write how it was asked: {' or '.join(MODES)}",
    "prediction": "write an empty text for no answer",
    "run": "number the runs from 1, or leave the field out",
}


@dataclass(frozen=True)
class Prediction:
    """A model's answer to one sample in one run.

    `run` is the run's number, from 1. `text` is the answer without thoughts, and `thoughts` is the thinking before the
    answer; it is empty if the file has no thinking.
    """

    id: str
    run: int
    mode: str
    text: str
    thoughts: str = ""


def read_predictions(paths: Sequence[Path], mode: str | None = None) -> list[tuple[str, Prediction]]:
    """Return the predictions in files, each with its file and line.

    `mode` is the required prompt mode; None accepts any mode that is the same in the whole file. Raises DataError if a
    file is missing or empty, a line is not JSON or lacks a field, or a mode is wrong or mixed; the message names the
    line.
    """
    return [row for path in paths for row in _predictions_of_file(path, mode)]


def predictions_by_mode(
    predictions: Sequence[tuple[str, Prediction]], samples: Sequence[Sample], data: str
) -> dict[str, list[Prediction]]:
    """Return predictions by mode, after checking them against the samples.

    `predictions` are the result of `read_predictions`, `samples` the samples of the data set, and `data` is its name in
    messages. Raises DataError if an id is unknown, or a prediction occurs twice; the message names the line.
    """
    ids = {sample.id for sample in samples}
    origins: dict[tuple[str, str, int], str] = {}
    by_mode: dict[str, list[Prediction]] = {}
    for where, prediction in predictions:
        if prediction.id not in ids:
            raise DataError(
                f"{where}: the data set has no sample {short(prediction.id)} (of the lengths asked for, in {data}); "
                "give with --data the data set that the model answered, and with --lengths its lengths"
            )
        key = (prediction.mode, prediction.id, prediction.run)
        if key in origins:
            raise DataError(
                f"{where}: sample {short(prediction.id)}, run {short(prediction.run)} is at {origins[key]} already; "
                "remove one, or number the runs with `run`"
            )
        origins[key] = where
        by_mode.setdefault(prediction.mode, []).append(prediction)
    return by_mode


def missing_predictions(samples: Sequence[Sample], predictions: Sequence[Prediction]) -> list[tuple[Sample, int]]:
    """Return the pairs (sample, run) without a prediction, for all runs that occur in `predictions`."""
    runs = sorted({prediction.run for prediction in predictions})
    answered = {(prediction.id, prediction.run) for prediction in predictions}
    return [(sample, run) for sample in samples for run in runs if (sample.id, run) not in answered]


def require_complete(samples: Sequence[Sample], predictions: Sequence[Prediction], mode: str) -> None:
    """Raise DataError if predictions are missing; the message names lengths with none, or else samples without one."""
    answered = {prediction.id for prediction in predictions}
    missing = missing_predictions(samples, predictions)
    if not missing:
        return
    lengths = dict.fromkeys(sample.length for sample in samples)
    empty_lengths = [length for length in lengths if not any(s.length == length and s.id in answered for s in samples)]
    if empty_lengths:
        raise DataError(
            f"{mode}: no predictions of length {', '.join(empty_lengths)}; give them, name the lengths to score with "
            "--lengths, or score what is there with --partial"
        )
    examples = ", ".join(f"{sample.id} (run {run})" for sample, run in missing[:MAX_SHOWN])
    examples += f" and {len(missing) - MAX_SHOWN} more" * (len(missing) > MAX_SHOWN)
    raise DataError(
        f"{mode}: {len(missing)} of {len(missing) + len(predictions)} predictions are missing: {examples}; give them, "
        "or score the existing ones with --partial"
    )


def _predictions_of_file(path: Path, mode: str | None) -> list[tuple[str, Prediction]]:
    if not path.exists():
        raise DataError(f"{path}: no such prediction file; give one with --predictions")
    rows = [(where, parse_prediction(row, where)) for where, row in line_values(path)]
    if not rows:
        raise DataError(f"{path}: the file is empty; a prediction file has one JSON object per line")
    expected = mode or rows[0][1].mode
    for where, prediction in rows:
        if prediction.mode != expected:
            origin = "was asked for" if mode else f"is the mode of {rows[0][0]}"
            raise DataError(
                f"{where}: mode {prediction.mode!r}, but {expected!r} {origin}; the two modes are never scored "
                "together, keep a file for each"
            )
    return rows


def parse_prediction(row: Any, where: str) -> Prediction:
    """Return the prediction in one line of a file.

    Raises DataError if it is not an object with all fields, or a field is null.
    """
    if not isinstance(row, dict):
        raise DataError(f"{where}: a {type(row).__name__} instead of an object; write one object per line")
    absent_fields = [name for name in ("id", "mode", "prediction") if name not in row]
    if absent_fields:
        raise DataError(f"{where}: no field {', '.join(absent_fields)}; it has {cut_to_line(', '.join(row))}")
    for name in ("id", "mode", "prediction", "run"):
        if name in row and row[name] is None:
            raise DataError(f"{where}: {name} is null; {NULL_ADVICE[name]}")
    if SEAL in row and (fault := hash_fault(row)):
        raise DataError(f"{where}: the prediction {fault}; restore it, or remove the line and run again")
    if row["mode"] not in MODES:
        raise DataError(f"{where}: unknown mode {short(row['mode'])}; the modes are {', '.join(MODES)}")
    run = row.get("run", 1)
    if isinstance(run, bool) or not isinstance(run, int) or run < 1:
        raise DataError(f"{where}: run is {short(run)}; runs are numbered from 1")
    if not isinstance(row["prediction"], str):
        raise DataError(f"{where}: prediction is a {type(row['prediction']).__name__}, not a text; mend the line")
    answer, thoughts = split_thoughts(row["prediction"])
    return Prediction(id=str(row["id"]), run=run, mode=row["mode"], text=answer, thoughts=thoughts)
