"""Score predictions, and average the scores by length, task and language with confidence intervals."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boundpaper.statistics.bootstrap import LEAST_BOOTSTRAPPED, percentile_interval, resamples
from boundpaper.statistics.locations.student import half_width
from keyquery.scores.lbp.data import Sample
from keyquery.scores.lbp.metrics import Similarity, score
from keyquery.scores.lbp.predictions import Prediction
from keyquery.scores.lbp.tasks import LANGUAGES, LENGTHS, SCORE, SCORE_ROUGE, TASKS, is_summary

DRAWS = 2000
OVERALL = "overall"


def score_samples(
    samples: Sequence[Sample], predictions: Sequence[Prediction], similarity: Similarity | None = None
) -> pd.DataFrame:
    """Return scores of predictions, one row per sample with the mean of its runs.

    Returns
    -------
    DataFrame
        Columns id, length, task, language, runs, empty (runs whose prediction is blank) and score (0 to 1), in the
        order of the samples; samples without a prediction are omitted.
    """
    by_id: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        by_id.setdefault(prediction.id, []).append(prediction)
    rows = []
    for sample in samples:
        runs = by_id.get(sample.id)
        if not runs:
            continue
        values = [score(sample.task, sample.answer, run.text, sample.language, similarity) for run in runs]
        rows.append(
            {
                "id": sample.id,
                "length": sample.length,
                "task": sample.task,
                "language": sample.language,
                "runs": len(runs),
                "empty": sum(not run.text.strip() for run in runs),
                "score": float(np.mean(values)),
            }
        )
    return pd.DataFrame(rows)


def aggregate(scores: pd.DataFrame, samples: Sequence[Sample], *, embedded: bool = False) -> pd.DataFrame:
    """Return means over samples, times 100: overall, and by length, task and language.

    `scores` is the result of `score_samples`, and `samples` are all samples that should have a prediction. A slice that
    lacks predictions has a reason. The metric is `SCORE_ROUGE` for means that include summaries if summaries were
    scored without the embedding model (`embedded` is false); otherwise it is `SCORE`.

    Returns
    -------
    DataFrame
        Columns slice, key, metric, value, ci_low, ci_high, n (predictions), samples, reason. Intervals are 95 %
        percentile intervals from 2,000 resamples of samples within each length. If a length has fewer than 20 samples,
        they are Student's, clipped to 0 and 100. They cover the choice of questions, not of training or prompts.
        Without samples of all six lengths, the overall mean is missing.
    """
    expected = pd.DataFrame([{"length": s.length, "task": s.task, "language": s.language} for s in samples])
    rows = [_mean_row(OVERALL, OVERALL, scores, expected, embedded)]
    for name, keys in (("length", LENGTHS), ("task", tuple(TASKS)), ("language", LANGUAGES)):
        for key in keys:
            expected_of_key = expected[expected[name] == key]
            if len(expected_of_key):
                rows.append(_mean_row(name, key, scores[scores[name] == key], expected_of_key, embedded))
    return pd.DataFrame(rows)


def _mean_row(kind: str, key: str, scores: pd.DataFrame, expected: pd.DataFrame, embedded: bool) -> dict[str, object]:
    reasons = []
    if len(scores) < len(expected):
        reasons.append(f"{len(expected) - len(scores)} of {len(expected)} samples have no prediction")
    absent = [length for length in LENGTHS if length not in set(scores["length"])] if kind == OVERALL else []
    if absent and len(scores):
        reasons.append(f"no predictions of length {', '.join(absent)}")
    has_mean = bool(len(scores)) and not absent
    low = high = float("nan")
    if has_mean and len(scores) == 1:
        reasons.append("no interval: a single sample")
    elif has_mean and scores["score"].nunique() > 1:
        low, high = _interval_ends(scores)
    elif has_mean:
        reasons.append("no interval: all samples score the same")
    has_summaries = any(is_summary(task) for task in expected["task"])
    metric = SCORE_ROUGE if has_summaries and not embedded else SCORE
    value = 100 * float(scores["score"].mean()) if has_mean else float("nan")
    counts = {"n": int(scores["runs"].sum()), "samples": len(scores), "reason": "; ".join(reasons)}
    return {"slice": kind, "key": key, "metric": metric, "value": value, "ci_low": low, "ci_high": high, **counts}


def _interval_ends(scores: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the mean's interval, times 100; the number of samples of each length counts as fixed."""
    by_length = [values.to_numpy(dtype=float) for _, values in scores.groupby("length")["score"]]
    if min(map(len, by_length)) < LEAST_BOOTSTRAPPED:
        return _student_over_lengths(by_length)
    totals = np.zeros(DRAWS)
    for index, values in enumerate(by_length):
        totals += np.concatenate([values[index].sum(axis=1) for index in resamples(len(values), DRAWS, seed=index)])
    low, high = percentile_interval(100 * totals / len(scores))
    # rounded, since the last digits of a sum depend on its order
    return round(low, 10), round(high, 10)


def _student_over_lengths(by_length: list[NDArray[np.float64]]) -> tuple[float, float]:
    """Return Student's interval of a mean of all lengths' samples, times 100, with Satterthwaite's degrees of freedom.

    If a length has a single sample, or no length has any variance, all lengths are pooled. Differences between lengths
    then count as noise, so that the interval is too wide rather than too narrow.
    """
    count = sum(map(len, by_length))
    mean = np.concatenate(by_length).mean()
    if min(map(len, by_length)) < 2 or all(np.ptp(values) == 0 for values in by_length):
        by_length = [np.concatenate(by_length)]
    variances = np.array([len(values) * values.var(ddof=1) for values in by_length]) / count**2
    total = variances.sum()
    df = total**2 / sum(variance**2 / (len(values) - 1) for variance, values in zip(variances, by_length, strict=True))
    margin = float(half_width(np.sqrt(total), np.asarray(df)))
    return 100 * max(0.0, float(mean) - margin), 100 * min(1.0, float(mean) + margin)
