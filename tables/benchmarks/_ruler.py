"""Rows and footnotes for models measured by this project, in tables of published RULER scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundpaper.typeset.numbers import fixed, integer
from boundpaper.typeset.wording import whole

if TYPE_CHECKING:
    import pandas as pd

BENCHMARK = "RULER"
NULL = "null reference"
GROUPS = {
    BENCHMARK: "Measured by this project, mean of the 13 tasks",
    "needles in noise": "Measured by this project, needles in generated noise, no RULER score",
}
AVERAGES = ("average", "weighted_longer", "weighted_shorter")


def measured_rows(scores: pd.DataFrame, models: pd.DataFrame, lengths: Sequence[str]) -> pd.DataFrame:
    """Return one row per measured model and kind of tasks: the columns of the published rows, `mark` and `group`.

    `scores` is a frame like `measured_ruler_lengths`, `models` one like `measured_ruler_models`. A model that was
    scored at none of these lengths has no row here, only in `needles`.
    """
    import pandas as pd

    facts = {str(row["model"]): row for row in models.to_dict("records")}
    rows = []
    for data in GROUPS:
        for model, group in scores[scores["data"] == data].groupby("model", sort=True):
            is_benchmark = data == BENCHMARK
            by_length = dict(zip(group["length"], group["score"], strict=True))
            if by_length.keys().isdisjoint(lengths):
                continue
            summary = facts[str(model)] if is_benchmark else {}
            effective = summary.get("effective_length")
            rows.append(
                {
                    "display_name": group["display_name"].iloc[0],
                    "mark": _footnote_name(str(model), data),
                    **{length: by_length.get(length) for length in lengths},
                    **{name: summary.get(name) for name in AVERAGES},
                    "effective_shown": "" if effective is None or pd.isna(effective) else _tokens(float(effective)),
                    "stated_shown": "",
                    "stated_mark": "",
                    **{f"mark_{length}": "" for length in lengths},
                    "group": GROUPS[data],
                }
            )
    return pd.DataFrame(rows)


def measured_footnotes(scores: pd.DataFrame, models: pd.DataFrame) -> dict[str, str]:
    """Return a footnote per row of `measured_rows`: the tasks, the intervals, and limits of comparison."""
    facts = {str(row["model"]): row for row in models.to_dict("records")}
    return {
        _footnote_name(str(model), str(data)): _footnote_text(str(data), group, facts[str(model)])
        for (model, data), group in scores.groupby(["model", "data"], sort=True)
    }


def _footnote_name(model: str, data: str) -> str:
    return f"measured {model} {'ruler' if data == BENCHMARK else 'noise'}"


def _tokens(effective: float) -> str:
    return f"{int(effective) // 1024}K" if int(effective) % 1024 == 0 else integer().show(effective, "plain")


def _footnote_text(data: str, scores: pd.DataFrame, facts: Mapping[Hashable, Any]) -> str:
    number = fixed(1)
    sentences = ["A network with random weights, the null reference. "] if facts["role"] == NULL else []
    if data != BENCHMARK:
        sentences.append(
            "Numbers to be found in repeated sentences of this project's own wording, four tasks: the scores compare "
            "with none above"
        )
    else:
        sentences.append("Measured with the harness that runs the benchmark's tasks")
        if facts["plasticity_origin"]:
            sentences.append(
                f"; plasticity {facts['plasticity_origin']} over {whole(facts['captured_context'])} tokens, "
                f"{facts['checkpoint_match']}"
            )
        if facts["effective_length"] != facts["effective_length_unbroken"] and facts["effective_length"] > 0:
            sentences.append("; a length shorter than the effective one is not above the threshold")
    intervals = [
        f"{row['length'].upper()} {number.show(row['ci_low'], 'plain')} to {number.show(row['ci_high'], 'plain')} "
        f"({int(row['samples'])} samples)"
        for _, row in scores[scores["ci_low"].notna()].iterrows()
    ]
    if intervals:
        sentences.append(f". 95 % intervals: {', '.join(intervals)}")
    lengths = scores.loc[scores["score"].isna(), "length"]
    if len(lengths):
        sentences.append(f". No mean, since a task is missing: {', '.join(length.upper() for length in lengths)}")
    return "".join(sentences)
