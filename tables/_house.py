"""Helpers for tables of models and their scores: footnotes on models, and tests spread over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from boundpaper.store.paper_vocabulary import printed_word
from boundpaper.typeset.wording import whole

if TYPE_CHECKING:
    import pandas as pd

GUARD = "guard smallest attainable p"


def model_marks(rows: pd.DataFrame, full: int, *, scored: bool = True) -> list[str]:
    """Name each model's footnotes: `short` for less captured context than `full`, `base` for another checkpoint scored.

    Reads `captured_context`, and `checkpoint_match` where `scored`.
    """
    marks = []
    for _, row in rows.iterrows():
        names = ["short"] if row["captured_context"] < full else []
        if scored and str(row["checkpoint_match"]).startswith("base captured"):
            names.append("base")
        marks.append(",".join(names))
    return marks


def model_footnotes(rows: pd.DataFrame, full: int) -> Mapping[str, str]:
    """Write the footnotes that `model_marks` names."""
    short = rows[rows["captured_context"] < full]["captured_context"]
    return {
        "short": (
            f"Captured over {' and '.join(whole(each) for each in sorted(set(short)))} tokens, not {whole(full)}: "
            "plasticity and drop of a shorter range, which do not compare."
        ),
        "base": "The base checkpoint was captured, the instruction-tuned one scored.",
    }


def rounded_bias(rows: pd.DataFrame) -> str:
    """Write which models' biases were rounded before they were printed, and by how much such a bias may be off.

    Reads `bias_half`, half a unit of the last place to which a bias per token was rounded.
    """
    half = float(rows["bias_half"].max())
    if rows["bias_half"].min() == half:
        which = "Biases"
    else:
        which = f"Biases, except {' and '.join(rows.loc[rows['bias_half'] < half, 'display_name'])},"
    return (
        f"{which} were rounded to $10^{{-4}}$ before they were printed with two zeros: each is within "
        f"${1e4 * half:g} \\times 10^{{-4}}$, a relative error of that over itself."
    )


def spread_tests(
    tests: pd.DataFrame, values: Sequence[str] = ("estimate", "ci_low", "ci_high", "p_value", "p_adjusted")
) -> pd.DataFrame:
    """Spread a frame of tests: one row per comparison, one column `TEST_VALUE` per test and value.

    `TEST_guard` names the mark `guard` where the test's smallest attainable p leaves no significant outcome.
    """
    marked = tests.assign(guard=["guard" if GUARD in note else "" for note in tests["note"]])
    table = marked.pivot(index="comparison", columns="test", values=[*values, "guard"])
    table.columns = [f"{column[1]}_{column[0]}" for column in table.columns]
    for column in table.columns:
        if not column.endswith("_guard"):
            table[column] = table[column].astype(float)
    return table.loc[tests["comparison"].drop_duplicates()].reset_index()


def metric(key: str) -> str:
    """Return the name of a metric in print."""
    return printed_word("metric", key)


def estimator_phrase(key: str, pairs: str) -> str:
    """Return in one phrase how plasticity was estimated, and over which pairs of keys."""
    return f"{printed_word('estimator', key)}, pairs of {printed_word('pairs', pairs)}"
