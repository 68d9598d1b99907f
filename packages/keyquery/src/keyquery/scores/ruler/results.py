"""Read and check RULER results from files of lm-evaluation-harness, which runs its 13 tasks.

Its scores differ from RULER's in the two question-answering tasks, whose references are wordings of one answer: the
harness gives the share of references found, RULER a full score for any one. These tasks are rescored from the samples
that the harness writes beside its results.
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
from keyquery.scores.ruler.scores import TASKS, Score, length_key, length_tokens, share_contained

# The harness' name of each task
NAMES = {
    **{task: task for task in TASKS if task.startswith("niah_")},
    "ruler_vt": "vt",
    "ruler_cwe": "cwe",
    "ruler_fwe": "fwe",
    "ruler_qa_squad": "qa_1",
    "ruler_qa_hotpot": "qa_2",
}
SETTINGS = ("model_name", "chat_template_sha", "system_instruction_sha")  # equal in all files of one model
NOT_RUN = -1
QUESTIONS = ("qa_1", "qa_2")  # any reference is enough
NO_SAMPLES = (
    "value: no samples of the questions beside the results, where the harness scores shares of the references and "
    "RULER any of them; run it with --log_samples"
)


@dataclass(frozen=True)
class Results:
    """Contents of result files about RULER.

    `model` is the model's name in the files; `facts`, for a manifest, are versions of the harness, settings and file
    hashes.
    """

    cells: list[Score]
    model: str
    facts: dict[str, Any] = field(default_factory=dict)


def read(paths: Sequence[Path]) -> Results:
    """Read result files (`results_*.json`) of one model into scores by task and length.

    Raises DataError if a file is missing, not JSON, not a result file, of another model or setting than the first,
    has no RULER task or a score outside 0 to 1, if a prompt was cut to fit the model, if two files have the same task
    and length, or if tasks at one length have different numbers of samples.
    """
    if not paths:
        raise DataError("no result files; give results_*.json files of lm-evaluation-harness")
    cells: dict[tuple[str, str], Score] = {}
    origin: dict[tuple[str, str], Path] = {}
    base: dict[str, Any] | None = None
    versions, seeds, hashes = set(), set(), []
    for path in paths:
        content = _read_json(path)
        if base is None:
            base = content
        for name in SETTINGS:
            if content.get(name) != base.get(name):
                raise DataError(
                    f"{path}: {name} is {content.get(name)!r}, but {base.get(name)!r} in {paths[0]}; give the files "
                    "of one model and one way of asking"
                )
        for cell in _scores_of_file(content, path):
            place = (cell.length, cell.task)
            if place in cells:
                raise DataError(f"{path}: {cell.task} at {cell.length} is already in {origin[place]}; give one")
            cells[place], origin[place] = cell, path
        versions.add(str(content.get("lm_eval_version", "unknown")))
        seeds.add(str(content.get("config", {}).get("random_seed", "unknown")))
        hashes.append(digest(path))
    assert base is not None
    _require_equal_lengths(list(cells.values()))
    facts = {
        "harness": sorted(versions),
        "seeds": sorted(seeds),
        "files": sorted(hashes),
        "chat_template": bool(base.get("chat_template_sha")),
    }
    return Results(list(cells.values()), str(base.get("model_name") or "unknown"), facts)


def require_complete(cells: Sequence[Score], tasks: Sequence[str], lengths: Sequence[str]) -> None:
    """Raise DataError if a task lacks a length.

    The error names both, and how to accept incomplete results.
    """
    scored = {(cell.task, cell.length) for cell in cells if cell.value is not None}
    by_length = {length: [task for task in tasks if (task, length) not in scored] for length in lengths}
    gaps = [
        f"{length}: {'every task' if len(absent) == len(tasks) else ', '.join(absent)}"
        for length, absent in by_length.items()
        if absent
    ]
    if gaps:
        note = f" ({NO_SAMPLES.removeprefix('value: ')})" if any(cell.reason == NO_SAMPLES for cell in cells) else ""
        raise DataError(
            f"without a score at {'; '.join(gaps)}{note}. Give --lengths for the ones that were run, or --partial "
            "to accept incomplete results (a mean needs every task)"
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
            raise DataError(f"{path}: these are samples as JSON lines; give the results_*.json beside it") from None
        raise DataError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(content, dict) or not {"results", "configs"} <= set(content):
        kind = "samples" if isinstance(content, dict) and "doc_id" in content else "another kind of file"
        raise DataError(
            f"{path}: {kind}, not results of lm-evaluation-harness (results and configs are missing); give a "
            "results_*.json file"
        )
    if wrong := _misshapen_part(content):
        raise DataError(f"{path}: {wrong}; this is not what lm-evaluation-harness writes")
    return content


def _misshapen_part(content: dict[str, Any]) -> str:
    """Return the part of a results file that has the wrong shape; empty if there is none."""
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
        others = ", ".join(sorted(results)) or "nothing"
        raise DataError(f"{path}: not a task of RULER, which has {others}")
    limit = content.get("max_length")
    cells = []
    for name in names:
        sampled = _lengths_of_samples(content, name)
        for length, value in _scores_of_row(results[name], name, path).items():
            if value == NOT_RUN:
                # every file has an entry for 4096; only requested lengths can be missing
                if length in sampled:
                    reason = "asked for, no sample was run; a limit takes the first ones, of the shortest length"
                    cells.append(Score(task=NAMES[name], length=length_key(length), value=None, n=0, reason=reason))
                continue
            if not (isinstance(value, int | float) and 0 <= value <= 1 and math.isfinite(value)):
                raise DataError(f"{path}: {name} at {length}: {value!r} is not a score between 0 and 1")
            if isinstance(limit, int) and length > limit:
                raise DataError(
                    f"{path}: {name} at {length}: the harness cut prompts to the model's {limit} tokens, so this is no "
                    "score at that length; run it again with a larger max_length, or leave the length out"
                )
            n = _sample_count(content, name, length, sampled)
            reason = "" if n is not None else "n, ci_low, ci_high: the file says no number of samples for each length"
            scored: float | None = float(value)
            if NAMES[name] in QUESTIONS:
                scored = _mean_of_any_reference(path, name, length, float(value))
                reason = reason if scored is not None else NO_SAMPLES
            percent = None if scored is None else 100 * scored
            cells.append(Score(task=NAMES[name], length=length_key(length), value=percent, n=n, reason=reason))
    return cells


def _mean_of_any_reference(results: Path, name: str, length: int, share: float) -> float | None:
    """Return a question-answering task's mean score if any one reference suffices; None without samples.

    Raises DataError if samples cannot be read, or do not reproduce the harness's score.
    """
    path = results.with_name(f"samples_{name}_{results.stem.removeprefix('results_')}.jsonl")
    if not path.is_file():
        return None
    shares, any_of = [], []
    for place, sample in line_values(path):
        try:
            if int(sample["doc"]["max_length"]) != length:
                continue
            references = [str(text) for text in sample["doc"]["outputs"]]
            answer = str(sample["filtered_resps"][0])
            shares.append(share_contained(answer, references))
            any_of.append(share_contained(answer, references, any_of=True))
        except (ValueError, KeyError, IndexError, TypeError, ArithmeticError) as error:
            raise DataError(f"{place}: no sample of the harness ({error!r})") from None
    if not shares or abs(sum(shares) / len(shares) - share) > 1e-6:
        answer = f"{sum(shares) / len(shares):.6g}" if shares else "nothing"
        raise DataError(
            f"{path}: its samples give {answer} at {length}, but {results.name} has {share:.6g}; give those of one run"
        )
    return sum(any_of) / len(any_of)


def _scores_of_row(row: dict[str, Any], name: str, path: Path) -> dict[int, Any]:
    """Return scores by length, from keys such as `4096,none`: metric, comma, filter."""
    by_length: dict[int, Any] = {}
    for key, value in row.items():
        metric, _, _ = key.partition(",")
        if not metric.isdecimal() or len(metric) > 9:
            continue
        if int(metric) in by_length:
            raise DataError(f"{path}: {name} at {metric}: results of two filters; keep one")
        by_length[int(metric)] = value
    if not by_length:
        raise DataError(f"{path}: {name}: no score by length; keys such as '4096,none' are missing")
    return by_length


def _lengths_of_samples(content: dict[str, Any], name: str) -> list[int]:
    """Return the lengths for which samples were made, in order."""
    metadata = content["configs"].get(name, {}).get("metadata") or {}
    lengths = metadata.get("max_seq_lengths") if isinstance(metadata, dict) else None
    return [int(length) for length in lengths] if lengths else [4096]


def _sample_count(content: dict[str, Any], name: str, length: int, asked: list[int]) -> int | None:
    """Return the number of samples of one length, from the harness's count over equal blocks of lengths.

    A sample limit takes the first samples over all lengths.
    """
    counts = content.get("n-samples", {}).get(name, {})
    original, effective = counts.get("original"), counts.get("effective")
    if not (isinstance(original, int) and isinstance(effective, int)) or length not in asked or original % len(asked):
        return None
    block = original // len(asked)
    return max(0, min(block, effective - block * asked.index(length)))


def _require_equal_lengths(cells: Sequence[Score]) -> None:
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
