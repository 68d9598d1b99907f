"""Read the samples of LongBench Pro, from the Hub or from a local copy with the same columns."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.validation import cut_to_line, short
from keyquery.scores.lbp.tasks import LANGUAGES, LENGTHS, TASKS
from keyquery.tasks.published import hub_rows, local_rows

COLUMNS = "id context language token_length secondary_task question_nonthinking question_thinking answer".split()
"""Columns to read; the benchmark has more."""

SPLIT = "test"


@dataclass(frozen=True)
class Sample:
    """One question of the benchmark.

    `length` is one of `LENGTHS`, counted by the benchmark's tokenizer, and `task` is the code of the secondary task,
    such as `T6.2`. `questions` maps prompt modes to questions, and `answer` has the right (gold) lines or summaries.
    """

    id: str
    context: str
    language: str
    length: str
    task: str
    questions: dict[str, str]
    answer: tuple[str, ...]


def load_samples(path_or_id: str, lengths: Sequence[str] = LENGTHS) -> list[Sample]:
    """Return the samples of the given lengths, which are some of `LENGTHS`.

    `path_or_id` is a Hub id, a `.jsonl`, `.json` or `.parquet` file, or a folder of such files. Raises DataError if the
    data cannot be read, lacks a column, or has an invalid sample; the message names the row.
    """
    unknown_lengths = [length for length in lengths if length not in LENGTHS]
    if unknown_lengths:
        raise DataError(f"no length {unknown_lengths[0]!r}; lengths are {', '.join(LENGTHS)}")
    samples: dict[str, Sample] = {}
    for where, row in _sample_rows(path_or_id):
        sample = _read_sample(row, where)
        if sample.id in samples:
            raise DataError(f"{where}: the id {short(sample.id)} appears twice; the data set is damaged, get it again")
        samples[sample.id] = sample
    if not samples:
        raise DataError(f"{path_or_id}: no samples; give other --data")
    selected_samples = [sample for sample in samples.values() if sample.length in lengths]
    absent_lengths = [length for length in lengths if length not in {sample.length for sample in selected_samples}]
    if absent_lengths:
        raise DataError(
            f"{path_or_id}: no samples of length {', '.join(absent_lengths)}; give the others with --lengths"
        )
    return selected_samples


def fingerprint(samples: Sequence[Sample]) -> str:
    """Return a hash of all fields of the samples, 32 hexadecimal digits; the order of samples does not matter."""
    hasher = hashlib.blake2b(digest_size=16)
    for sample in sorted(samples, key=lambda sample: sample.id):
        context = hashlib.blake2b(sample.context.encode(), digest_size=16).hexdigest()
        labels = [sample.id, sample.task, sample.length, sample.language]
        hasher.update(json.dumps([*labels, context, sample.questions, list(sample.answer)], sort_keys=True).encode())
    return hasher.hexdigest()


def _read_sample(row: Any, where: str) -> Sample:
    if not isinstance(row, dict):
        raise DataError(f"{where}: a {type(row).__name__} instead of an object with a sample's columns; mend it")
    absent_columns = [name for name in COLUMNS if name not in row]
    if absent_columns:
        raise DataError(
            f"{where}: no column {', '.join(absent_columns)}; it has {cut_to_line(', '.join(map(str, row)))}"
        )
    if nulls := [name for name in COLUMNS if row[name] is None]:
        raise DataError(f"{where}: {', '.join(nulls)} is null; fill it in, or remove the sample")
    task = re.match(r"T\d+\.\d+", str(row["secondary_task"]))
    answer = row["answer"].tolist() if hasattr(row["answer"], "tolist") else row["answer"]
    faults = {
        "secondary_task": task is None or task[0] not in TASKS,
        "language": row["language"] not in LANGUAGES,
        "token_length": row["token_length"] not in LENGTHS,
        "answer": not isinstance(answer, list) or not answer or not all(isinstance(line, str) for line in answer),
    }
    for name, is_wrong in faults.items():
        if is_wrong:
            allowed = {"language": LANGUAGES, "token_length": LENGTHS, "answer": ("a list of texts",)}
            values = ", ".join(allowed.get(name, ("T1.1 ... to T11.2 ...",)))
            raise DataError(f"{where}: {name} is {short(row[name])}; it should be {values}")
    assert task is not None
    return Sample(
        id=str(row["id"]),
        context=str(row["context"]),
        language=row["language"],
        length=row["token_length"],
        task=task[0],
        questions={mode: str(row[f"question_{mode}"]) for mode in ("nonthinking", "thinking")},
        answer=tuple(answer),
    )


def _sample_rows(path_or_id: str) -> Iterator[tuple[str, Any]]:
    path = Path(path_or_id)
    if path.exists():
        return local_rows(path)
    if path.suffix or path.is_absolute() or path_or_id.count("/") != 1:
        raise DataError(f"{path_or_id}: no such file or folder; give one, or a Hub id OWNER/NAME")
    return hub_rows(path_or_id, SPLIT, "--data")
