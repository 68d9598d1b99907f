"""Read and check results of RULER's 13 tasks from files of lm-evaluation-harness, which runs the tasks.

The harness scores the two question-answering tasks, whose references are wordings of one answer, by the share of
references found; RULER gives the full score if any reference is found. These tasks are scored again, as in RULER, from
the samples that the harness writes beside its results.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.files import digest
from boundpaper.store.json_lines import line_values
from boundpaper.store.json_text import parsed
from keyquery.scores.ruler.scores import QA, TASKS, Score, length_key, length_tokens, share_contained

# RULER's name of each task, by its name in the harness
NAMES = {
    **{task: task for task in TASKS if task.startswith("niah_")},
    "ruler_vt": "vt",
    "ruler_cwe": "cwe",
    "ruler_fwe": "fwe",
    "ruler_qa_squad": "qa_1",
    "ruler_qa_hotpot": "qa_2",
}
SETTINGS = ("model_name", "chat_template_sha", "system_instruction_sha")  # equal in all files of one model
NOT_RUN = -1  # score that the harness gives to a length without samples
NO_SAMPLES = (
    "value: no samples of the questions beside the results, where the harness scores shares of the references and "
    "RULER any of them; run it with --log_samples"
)


@dataclass(frozen=True)
class Results:
    """Contents of result files about RULER.

    `cells` has one score per task and length, and `model` is the model's name in the files. `facts`, for a manifest,
    are versions of the harness, settings and file hashes.
    """

    cells: list[Score]
    model: str
    facts: dict[str, Any] = field(default_factory=dict)


def read(paths: Sequence[Path]) -> Results:
    """Return the scores by task and length from result files (`results_*.json`) of one model.

    Raises DataError if a file is missing, not JSON or not a result file, is of another model or setting than the first
    file, or has no RULER task or a score outside 0 to 1; if a prompt was cut to fit the model; if two files have the
    same task and length; or if tasks at one length have different numbers of samples.
    """
    if not paths:
        raise DataError("no result files; give results_*.json files of lm-evaluation-harness")
    cells: dict[tuple[str, str], Score] = {}
    sources: dict[tuple[str, str], Path] = {}
    first_content: dict[str, Any] = {}
    versions, seeds, hashes = set(), set(), []
    for path in paths:
        content = _read_json(path)
        first_content = first_content or content
        for name in SETTINGS:
            if content.get(name) != first_content.get(name):
                raise DataError(
                    f"{path}: {name} is {content.get(name)!r}, but {first_content.get(name)!r} in {paths[0]}; give the "
                    "files of one model with the same template and instruction"
                )
        for cell in _scores_of_file(content, path):
            key = (cell.length, cell.task)
            if key in cells:
                raise DataError(
                    f"{path}: {cell.task} at {cell.length} is already in {sources[key]}; give one of the files"
                )
            cells[key], sources[key] = cell, path
        versions.add(str(content.get("lm_eval_version", "unknown")))
        seeds.add(str(content.get("config", {}).get("random_seed", "unknown")))
        hashes.append(digest(path))
    _require_equal_counts(list(cells.values()))
    facts = {
        "harness": sorted(versions),
        "seeds": sorted(seeds),
        "files": sorted(hashes),
        "chat_template": bool(first_content.get("chat_template_sha")),
    }
    return Results(list(cells.values()), str(first_content.get("model_name") or "unknown"), facts)


def require_complete(cells: Sequence[Score], tasks: Sequence[str], lengths: Sequence[str]) -> None:
    """Raise DataError, with each length and its missing tasks, if a task has no score at one of the lengths."""
    scored_pairs = {(cell.task, cell.length) for cell in cells if cell.value is not None}
    by_length = {length: [task for task in tasks if (task, length) not in scored_pairs] for length in lengths}
    gap_texts = [
        f"{length}: {'every task' if len(absent) == len(tasks) else ', '.join(absent)}"
        for length, absent in by_length.items()
        if absent
    ]
    if gap_texts:
        note = f" ({NO_SAMPLES.removeprefix('value: ')})" if any(cell.reason == NO_SAMPLES for cell in cells) else ""
        raise DataError(
            f"scores are missing at {'; '.join(gap_texts)}{note}. Give --lengths with the lengths that were run, or "
            "--partial to accept incomplete results (a mean needs every task)"
        )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); give a results_*.json file") from error
    except UnicodeDecodeError:
        raise DataError(f"{path}: not a text file; give a results_*.json file") from None
    try:
        content = parsed(text)
    except (ValueError, RecursionError) as error:
        if _is_json(text.partition("\n")[0]):
            raise DataError(f"{path}: this file has samples as JSON lines; give the results_*.json beside it") from None
        raise DataError(f"{path}: not valid JSON ({error}); run the harness again") from None
    if not isinstance(content, dict) or not {"results", "configs"} <= set(content):
        kind = "samples" if isinstance(content, dict) and "doc_id" in content else "another kind of file"
        raise DataError(
            f"{path}: {kind}, not results of lm-evaluation-harness (results and configs are missing); give a "
            "results_*.json file"
        )
    if fault := _wrong_type(content):
        raise DataError(f"{path}: {fault}; lm-evaluation-harness does not write such files: give another file")
    return content


def _wrong_type(content: dict[str, Any]) -> str:
    """Return which part of a results file has the wrong type; empty if there is none."""
    for section in ("results", "configs", "n-samples"):
        rows = content.get(section, {})
        if not isinstance(rows, dict):
            return f"`{section}` is not an object"
        for name, row in rows.items():
            if name in NAMES and not isinstance(row, dict):
                return f"`{section}` of {name} is not an object"
    for name, row in content["configs"].items():
        metadata = row.get("metadata", {}) if name in NAMES else {}
        lengths = metadata.get("max_seq_lengths") if isinstance(metadata, dict) else None
        if lengths is not None and not (
            isinstance(lengths, list) and all(str(length).isdecimal() and len(str(length)) < 10 for length in lengths)
        ):
            return f"`max_seq_lengths` of {name} is not a list of lengths"
    return ""


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _scores_of_file(content: dict[str, Any], path: Path) -> list[Score]:
    results = content["results"]
    names = [name for name in results if name in NAMES]
    if not names:
        raise DataError(f"{path}: has no task of RULER, only {', '.join(sorted(results)) or 'nothing'}")
    limit = content.get("max_length")
    cells = []
    for name in names:
        requested_lengths = _requested_lengths(content, name)
        for length, value in _scores_of_row(results[name], name, path).items():
            if value == NOT_RUN:
                # every file has an entry for 4096, also if this length was not requested
                if length in requested_lengths:
                    reason = "asked for, no sample was run; a limit takes the first ones, of the shortest length"
                    cells.append(Score(task=NAMES[name], length=length_key(length), value=None, n=0, reason=reason))
                continue
            if not (isinstance(value, int | float) and 0 <= value <= 1 and math.isfinite(value)):
                raise DataError(f"{path}: {name} at {length}: {value!r} is not a score between 0 and 1; run it again")
            if isinstance(limit, int) and length > limit:
                raise DataError(
                    f"{path}: {name} at {length}: the harness cut prompts to the model's {limit} tokens, so this is no "
                    "score at that length; run it again with a larger max_length, or leave the length out"
                )
            n = _sample_count(content, name, length, requested_lengths)
            reason = "" if n is not None else "n, ci_low, ci_high: the file says no number of samples for each length"
            share: float | None = float(value)
            if NAMES[name] in QA:
                share = _mean_of_any_reference(path, name, length, float(value))
                reason = reason if share is not None else NO_SAMPLES
            percent = None if share is None else 100 * share
            cells.append(Score(task=NAMES[name], length=length_key(length), value=percent, n=n, reason=reason))
    return cells


def _mean_of_any_reference(result_path: Path, name: str, length: int, share: float) -> float | None:
    """Return the share of samples in which any reference is found; None without a file of samples.

    `share` is the harness's score. Raises DataError if samples cannot be read, or do not reproduce this score.
    """
    path = result_path.with_name(f"samples_{name}_{result_path.stem.removeprefix('results_')}.jsonl")
    if not path.is_file():
        return None
    shares, any_of = [], []
    for where, sample in line_values(path):
        try:
            if int(sample["doc"]["max_length"]) != length:
                continue
            references = [str(text) for text in sample["doc"]["outputs"]]
            answer = str(sample["filtered_resps"][0])
            shares.append(share_contained(answer, references))
            any_of.append(share_contained(answer, references, any_of=True))
        except (ValueError, KeyError, IndexError, TypeError, ArithmeticError) as error:
            raise DataError(f"{where}: not a sample of the harness ({error!r}); run the harness again") from None
    if not shares or abs(sum(shares) / len(shares) - share) > 1e-6:
        mean = f"{sum(shares) / len(shares):.6g}" if shares else "nothing"
        raise DataError(
            f"{path}: its samples give {mean} at {length}, but {result_path.name} has {share:.6g}; give files of one "
            "run"
        )
    return sum(any_of) / len(any_of)


def _scores_of_row(row: dict[str, Any], name: str, path: Path) -> dict[int, Any]:
    """Return scores by length, from keys such as `4096,none`: length, comma, filter."""
    by_length: dict[int, Any] = {}
    for key, value in row.items():
        length, _, _ = key.partition(",")
        if not length.isdecimal() or len(length) > 9:
            continue
        if int(length) in by_length:
            raise DataError(f"{path}: {name} at {length}: results of two filters; keep one")
        by_length[int(length)] = value
    if not by_length:
        raise DataError(f"{path}: {name}: no score by length; keys such as '4096,none' are missing")
    return by_length


def _requested_lengths(content: dict[str, Any], name: str) -> list[int]:
    """Return the lengths for which the harness made samples of a task, in order."""
    metadata = content["configs"].get(name, {}).get("metadata") or {}
    lengths = metadata.get("max_seq_lengths") if isinstance(metadata, dict) else None
    return [int(length) for length in lengths] if lengths else [4096]


def _sample_count(content: dict[str, Any], name: str, length: int, lengths: list[int]) -> int | None:
    """Return the number of samples of one length; None if the file does not say it.

    The harness makes equally many samples for each of `lengths`, and runs the first ones up to a limit.
    """
    counts = content.get("n-samples", {}).get(name, {})
    made_count, run_count = counts.get("original"), counts.get("effective")
    if not (isinstance(made_count, int) and isinstance(run_count, int)):
        return None
    if length not in lengths or made_count % len(lengths):
        return None
    per_length = made_count // len(lengths)
    return max(0, min(per_length, run_count - per_length * lengths.index(length)))


def _require_equal_counts(cells: Sequence[Score]) -> None:
    """Raise DataError if tasks at one length have different numbers of samples."""
    by_length: dict[str, dict[int, list[str]]] = {}
    for cell in cells:
        if cell.value is not None and cell.n is not None:
            by_length.setdefault(cell.length, {}).setdefault(cell.n, []).append(cell.task)
    for length in sorted(by_length, key=length_tokens):
        if len(by_length[length]) > 1:
            counts = "; ".join(f"{', '.join(tasks)}: {n}" for n, tasks in sorted(by_length[length].items()))
            raise DataError(
                f"at {length} the tasks have different numbers of samples ({counts}); run them with one limit"
            )
