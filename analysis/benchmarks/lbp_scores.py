"""Scores of predictions, and their means by length, task and language with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.benchmarks.lbp_data import Sample
from analysis.benchmarks.lbp_metrics import Similarity, score
from analysis.benchmarks.lbp_predictions import Prediction
from analysis.benchmarks.lbp_tasks import LANGUAGES, LENGTHS, SCORE, SCORE_ROUGE, TASKS, is_summary
from analysis.statistics.bootstrap import percentile_interval, resamples

DRAWS = 2000
OVERALL = "overall"


def scored(
    samples: Sequence[Sample], predictions: Sequence[Prediction], similarity: Similarity | None = None
) -> pd.DataFrame:
    """Score predictions, one row a sample: the mean of its runs.

    Returns
    -------
    DataFrame
        Columns id, length, task, language, runs, empty (runs whose prediction is blank) and score (0 to 1), in the
        order of the samples; samples without a prediction are left out.
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


def aggregated(scores: pd.DataFrame, samples: Sequence[Sample], *, embedded: bool = False) -> pd.DataFrame:
    """Means over samples, times 100: overall, and by length, task and language.

    Parameters
    ----------
    scores : DataFrame
        What `scored` gives.
    samples : sequence of Sample
        The samples that should have a prediction; slices that lack some say so.
    embedded : bool
        Whether summaries were scored with the embedding model. Where not, means that hold summaries carry the metric
        name `SCORE_ROUGE`, all others `SCORE`.

    Returns
    -------
    DataFrame
        Columns slice, key, metric, value, ci_low, ci_high, n (predictions), samples, reason. Intervals are 95 %
        percentile intervals from 2,000 resamples of samples within each length: they cover the choice of questions,
        not that of training or prompts. The overall mean is given for samples of all six lengths only.
    """
    expected = pd.DataFrame([{"length": s.length, "task": s.task, "language": s.language} for s in samples])
    rows = [_mean(OVERALL, OVERALL, scores, expected, embedded)]
    for name, keys in (("length", LENGTHS), ("task", tuple(TASKS)), ("language", LANGUAGES)):
        for key in keys:
            asked = expected[expected[name] == key]
            if len(asked):
                rows.append(_mean(name, key, scores[scores[name] == key], asked, embedded))
    return pd.DataFrame(rows)


def _mean(kind: str, key: str, scores: pd.DataFrame, expected: pd.DataFrame, embedded: bool) -> dict[str, object]:
    reasons = []
    if len(scores) < len(expected):
        reasons.append(f"{len(expected) - len(scores)} of {len(expected)} samples have no prediction")
    absent = [length for length in LENGTHS if length not in set(scores["length"])]
    given = bool(len(scores)) and not (kind == OVERALL and absent)
    if kind == OVERALL and absent and len(scores):
        reasons.append(f"no predictions of length {', '.join(absent)}")
    low = high = float("nan")
    if given and scores["score"].nunique() > 1:
        low, high = _interval(scores)
    elif given:
        reasons.append("no interval: all samples score the same")
    summaries = any(is_summary(task) for task in expected["task"])
    return {
        "slice": kind,
        "key": key,
        "metric": SCORE_ROUGE if summaries and not embedded else SCORE,
        "value": 100 * float(scores["score"].mean()) if given else float("nan"),
        "ci_low": low,
        "ci_high": high,
        "n": int(scores["runs"].sum()),
        "samples": len(scores),
        "reason": "; ".join(reasons),
    }


def _interval(scores: pd.DataFrame) -> tuple[float, float]:
    """Resample the samples of each length, whose number the benchmark fixes; ends of the mean, times 100."""
    totals = np.zeros(DRAWS)
    for place, (_, values) in enumerate(scores.groupby("length")["score"]):
        array = values.to_numpy(dtype=float)
        totals += np.concatenate([array[index].sum(axis=1) for index in resamples(len(array), DRAWS, seed=place)])
    low, high = percentile_interval(100 * totals / len(scores))
    # a sum in another order may end a rounding error away from the mean of equal scores
    return round(low, 10), round(high, 10)
