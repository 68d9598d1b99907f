"""Compute RULER's scores: shares of references found, means over tasks, effective lengths and weighted averages."""

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.statistics.proportion import wilson_interval
from keyquery.scores.ruler.effective_length import LENGTHS, THRESHOLD

NEEDLES = tuple(
    f"niah_{name}" for name in ("single_1", "single_2", "single_3", "multikey_1", "multikey_2", "multikey_3")
)
QA = ("qa_1", "qa_2")
TASKS = (*NEEDLES, "niah_multivalue", "niah_multiquery", "vt", "cwe", "fwe", *QA)
ALL = "all"  # value of `length` in rows over several lengths
MEAN = "mean_13"
EFFECTIVE = ("effective_length", "effective_length_unbroken")
COLUMNS = ("slice", "key", "length", "value", "unit", "ci_low", "ci_high", "n", "reason")
PERCENT, TOKENS = "percent", "tokens"
_CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass(frozen=True, kw_only=True)
class Score:
    """The score of one task at one length.

    `length` is a key such as `4k`, and `value` is 0 to 100. `n` is None if the number of samples is unknown; `reason`
    explains a value or n of None.
    """

    task: str
    length: str
    value: float | None
    n: int | None
    reason: str = ""


def share_contained(prediction: str, references: Sequence[str], *, any_of: bool = False) -> float:
    """Return the share of the references that occur in a prediction, 0 to 1; letter case does not count.

    Control characters of the prediction count as line breaks, as in RULER. With `any_of`, the result is 1 if any
    reference occurs, as for question-answering tasks, whose references are wordings of one answer.
    """
    if not references:
        raise ValueError("a sample needs a reference")
    answer = _CONTROL.sub("\n", prediction.strip()).lower()
    are_found = [reference.lower() in answer for reference in references]
    return float(any(are_found)) if any_of else sum(are_found) / len(are_found)


def length_key(tokens: int) -> str:
    """Return a number of tokens as a key: 4096 is `4k`."""
    return f"{tokens // 1024}k" if tokens % 1024 == 0 else str(tokens)


def length_tokens(key: str) -> int:
    """Return the number of tokens that a key names: `4k` is 4096.

    Raises DataError if the key is invalid.
    """
    match = re.fullmatch(r"([1-9]\d*)(k?)", key)
    if match is None:
        raise DataError(f"{key!r} is not a length; write 4k, 8k, ... or a number of tokens")
    return int(match[1]) * (1024 if match[2] else 1)


def lengths_of(text: str | None) -> tuple[str, ...]:
    """Return the sorted lengths of an option such as `4k,8k`; without the option, RULER's six."""
    if text is None:
        return LENGTHS
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    if not words:
        raise DataError(f"--lengths {text}: no length; write 4k,8k,...")
    return tuple(length_key(tokens) for tokens in sorted({length_tokens(word) for word in words}))


def tabulate(cells: Iterable[Score], tasks: Sequence[str], mean: str) -> pd.DataFrame:
    """Return a measurement's rows: scores, means over tasks and, for RULER, effective lengths and length averages.

    `cells` has at most one score per task and length; `tasks` are averaged, and `mean` is the mean's name. If a task
    lacks a value, the mean has no value, and the reason names the missing tasks. If `mean` is `MEAN`, the name of the
    benchmark's mean, effective lengths and weighted averages are added. The columns are `COLUMNS`, with 95 % intervals.
    """
    by_cell = {(cell.length, cell.task): cell for cell in cells}
    lengths = sorted({length for length, _ in by_cell}, key=length_tokens)
    ordered = sorted(by_cell.values(), key=lambda cell: (tasks.index(cell.task), length_tokens(cell.length)))
    rows = []
    for cell in ordered:
        low, high = score_interval(cell.value, cell.n) if cell.value is not None and cell.n else (None, None)
        rows.append(_row("task", cell.task, cell.length, cell.value, PERCENT, low, high, cell.n, cell.reason))
    means = {length: _mean_row(length, [by_cell.get((length, task)) for task in tasks], tasks) for length in lengths}
    rows += [{**row, "key": mean} for row in means.values()]
    if mean == MEAN:
        rows += [*_length_averages(means), *_effective_lengths(means)]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"n": "Int64", "value": float})


def _row(*values: object) -> dict[str, object]:
    return dict(zip(COLUMNS, values, strict=True))


def score_interval(value: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a mean score (0 to 100) over n samples.

    The interval is conservative for fractional scores: of all variables between 0 and 1 with a given mean, a variable
    that is always 0 or 1 has the largest variance.
    """
    count = value / 100 * n
    low, _ = wilson_interval(math.floor(count + 1e-9), n)
    _, high = wilson_interval(math.ceil(count - 1e-9), n)
    return 100 * low, 100 * high


def _mean_row(length: str, cells: Sequence[Score | None], tasks: Sequence[str]) -> dict[str, object]:
    """Return the mean over fixed tasks, with an interval combined from the tasks' intervals (Zou and Donner 2008)."""
    scored = [cell for cell in cells if cell is not None and cell.value is not None]
    value, low, high = None, None, None
    counts = [cell.n for cell in scored if cell.n]
    reasons = []
    if len(scored) == len(tasks):
        values = [cell.value for cell in scored if cell.value is not None]
        value = math.fsum(values) / len(tasks)
        if len(counts) == len(tasks):
            intervals = [score_interval(value, n) for value, n in zip(values, counts, strict=True)]
            below = math.sqrt(sum((value - ends[0]) ** 2 for value, ends in zip(values, intervals, strict=True)))
            above = math.sqrt(sum((ends[1] - value) ** 2 for value, ends in zip(values, intervals, strict=True)))
            low, high = max(0.0, value - below / len(tasks)), min(100.0, value + above / len(tasks))
        else:
            reasons.append("n, ci_low, ci_high: samples of a task are not known")
    else:
        missing_tasks = [task for task, cell in zip(tasks, cells, strict=True) if cell is None or cell.value is None]
        reasons.append(f"no mean over {len(scored)} of {len(tasks)} tasks; missing: {', '.join(missing_tasks)}")
    n = sum(counts) if len(counts) == len(scored) and scored else None
    return _row("mean", "", length, value, PERCENT, low, high, n, "; ".join(reasons))


def _summary_row(key: str, value: float | None, unit: str, n: int | None, reason: str) -> dict[str, object]:
    reasons = "; ".join(filter(None, (reason, "ci_low, ci_high: of single lengths only")))
    return _row("summary", key, ALL, value, unit, None, None, n, reasons)


def _total_samples(means: dict[str, dict[str, object]]) -> int | None:
    counts = [row["n"] for row in means.values() if row["value"] is not None]
    numbers = [count for count in counts if isinstance(count, int)]
    return sum(numbers) if numbers and len(numbers) == len(counts) else None


def _length_averages(means: dict[str, dict[str, object]]) -> list[dict[str, object]]:
    """Return rows of averages over the six lengths: plain, and with weights rising or falling with length."""
    values = {length: row["value"] for length, row in means.items()}
    missing_lengths = [length for length in LENGTHS if values.get(length) is None]
    reason = f"no mean of 13 tasks at {', '.join(missing_lengths)}" if missing_lengths else ""
    rising = range(1, len(LENGTHS) + 1)
    plain, longer, shorter = [1] * len(rising), [*rising], [*reversed(rising)]
    rows = []
    for key, weights in (("average", plain), ("weighted_longer", longer), ("weighted_shorter", shorter)):
        value = None
        if not missing_lengths:
            terms = [weight * float(str(values[length])) for weight, length in zip(weights, LENGTHS, strict=True)]
            value = math.fsum(terms) / sum(weights)
        rows.append(_summary_row(key, value, PERCENT, None if missing_lengths else _total_samples(means), reason))
    return rows


def _effective_lengths(means: dict[str, dict[str, object]]) -> list[dict[str, object]]:
    """Return two rows: the longest length that passes the threshold, and the longest before the first that fails.

    The benchmark does not say whether a length counts if a shorter length is not above the threshold.
    """
    values = {length: float(str(row["value"])) for length, row in means.items() if row["value"] is not None}
    lengths = sorted(values, key=length_tokens)
    passed_lengths = [length for length in lengths if values[length] > THRESHOLD]
    unbroken_lengths = list(itertools.takewhile(lambda length: values[length] > THRESHOLD, lengths))
    rows = []
    for key, passing_lengths in zip(EFFECTIVE, (passed_lengths, unbroken_lengths), strict=True):
        reasons = []
        missing_lengths = [length for length in LENGTHS if length not in values]
        if not lengths:
            reasons.append("no length has a mean of 13 tasks")
        elif not passing_lengths:
            reasons.append(f"no tested length is above {THRESHOLD} from the shortest on, {lengths[0]}")
        elif passing_lengths[-1] == lengths[-1]:
            reasons.append("the longest length with a mean: it may reach further")
        if missing_lengths and lengths:
            reasons.append(f"without a mean: {', '.join(missing_lengths)}")
        if passed_lengths != unbroken_lengths and passing_lengths and key == EFFECTIVE[0]:
            reasons.append("a shorter length is not above")
        value = float(length_tokens(passing_lengths[-1])) if passing_lengths else None
        rows.append(_summary_row(key, value, TOKENS, _total_samples(means), "; ".join(reasons)))
    return rows
