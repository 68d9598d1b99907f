"""Rows and footnotes for models measured by this project, in tables of published LongBench Pro scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boundpaper.store.paper_vocabulary import words
from boundpaper.typeset.numbers import fixed
from boundpaper.typeset.wording import whole

if TYPE_CHECKING:
    import pandas as pd

BENCHMARK = "caskcsg/LongBench-Pro"
NULL = "null reference"
ROUGE = "lbp_rouge_t4"


def measured_mark(model: str) -> str:
    """Return the name of a measured model's footnote."""
    return f"measured {model}"


def measured_footnotes(scores: pd.DataFrame, facts: pd.DataFrame | None = None) -> dict[str, str]:
    """Return a footnote per model of `measured_lbp_lengths`: checkpoint, questions asked, and intervals.

    `facts` is a frame like `measured_decline`, with the origin and the checkpoint of each drop.
    """
    drops = {} if facts is None else {row["model"]: _drop_sentence(row) for _, row in facts.iterrows()}
    return {
        measured_mark(str(model)): f"{_footnote_text(rows)}{drops.get(model, '')}"
        for model, rows in scores.groupby("model", sort=True)
    }


def _drop_sentence(row: pd.Series) -> str:
    if not row["plasticity_origin"]:
        return ""
    origin = "measured by this project" if row["plasticity_origin"] == "measured" else "reported"
    tokens = whole(row["captured_context"])
    return f" Its drop is {origin}, over {tokens} tokens; checkpoints captured and scored: {row['checkpoint_match']}."


def _footnote_text(scores: pd.DataFrame) -> str:
    first = scores.iloc[0]
    opening = "A network with random weights, the null reference. " if first["role"] == NULL else ""
    counts = {str(row["mode"]): row["samples"] for _, row in scores[scores["length"] == "overall"].iterrows()}
    mode_words = words("mode")
    samples = f" ({', '.join(f'{mode_words[mode]} {count} samples' for mode, count in counts.items())})"
    sentences = [f"{opening}Measured by this project"]
    if first["data"] == BENCHMARK:
        sentences.append(f" on the benchmark's questions{samples}")
    else:
        sentences.append(
            f" on the questions of {first['data']}{samples}, which are not the benchmark's: its scores compare with no "
            "published one"
        )
    number = fixed(2)
    with_ci = scores[(scores["length"] == "overall") & scores["ci_low"].notna()]
    intervals = [
        f"{mode_words[row['mode']]} {number.show(row['ci_low'], 'plain')} to {number.show(row['ci_high'], 'plain')}"
        for _, row in with_ci.iterrows()
    ]
    if intervals:
        sentences.append(f"; 95 % intervals of the overall score from resampled samples: {', '.join(intervals)}")
    if (scores["metric"] == ROUGE).any():
        sentences.append("; summaries are scored by ROUGE-L alone, the benchmark adds an embedding model's similarity")
    return "".join(sentences) + "."


def measured_scores(scores: pd.DataFrame, lengths: tuple[str, ...]) -> pd.DataFrame:
    """Return one row per measured model and mode: `name`, `mark`, `group`, and the score at each length as text."""
    number = fixed(2)
    printed_scores = scores.assign(
        printed=["" if math.isnan(value) else number.show(value, "plain") for value in scores["lbp"].astype(float)]
    )
    table = printed_scores.pivot(index=["model", "display_name", "mode"], columns="length", values="printed")
    table = table.reindex(columns=list(lengths)).fillna("").reset_index().sort_values(["mode", "model"])
    return table.assign(
        name=table["display_name"],
        mark=[measured_mark(model) for model in table["model"]],
        group=[f"Score, {words('mode')[mode]}, measured by this project" for mode in table["mode"]],
    )
