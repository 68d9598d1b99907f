"""Helpers for tables of models and scores: footnotes on models, and test results spread over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from boundpaper.store.paper_vocabulary import printed_word
from boundpaper.typeset.wording import whole

if TYPE_CHECKING:
    import pandas as pd

GUARD = "guard smallest attainable p"


def model_marks(rows: pd.DataFrame, longest: int, *, scored: bool = True) -> list[str]:
    """Return footnote names by row: `short` if captured below `longest` tokens, `base` if only the base was captured.

    Reads the column `captured_context`, and with `scored` the column `checkpoint_match`.
    """
    marks = []
    for _, row in rows.iterrows():
        names = ["short"] if row["captured_context"] < longest else []
        if scored and str(row["checkpoint_match"]).startswith("base captured"):
            names.append("base")
        marks.append(",".join(names))
    return marks


def model_footnotes(rows: pd.DataFrame, longest: int) -> Mapping[str, str]:
    """Return the text of each footnote named by `model_marks`."""
    short_contexts = rows[rows["captured_context"] < longest]["captured_context"]
    return {
        "short": (
            f"Captured over {' and '.join(whole(n) for n in sorted(set(short_contexts)))} tokens, not "
            f"{whole(longest)}: plasticity and drop of a shorter range, which do not compare."
        ),
        "base": "The base checkpoint was captured, the instruction-tuned one scored.",
    }


def rounded_bias(rows: pd.DataFrame) -> str:
    """Return a sentence that says which models' biases were rounded in print, and how large the error may be.

    Reads `bias_half`: half a unit of the last digit kept when a bias per token was rounded.
    """
    largest = float(rows["bias_half"].max())
    if rows["bias_half"].min() == largest:
        subject = "Biases"
    else:
        subject = f"Biases, except {' and '.join(rows.loc[rows['bias_half'] < largest, 'display_name'])},"
    return (
        f"{subject} were rounded to $10^{{-4}}$ before they were printed with two zeros: each is within "
        f"${1e4 * largest:g} \\times 10^{{-4}}$, a relative error of that amount over the bias."
    )


def spread_tests(
    tests: pd.DataFrame, values: Sequence[str] = ("estimate", "ci_low", "ci_high", "p_value", "p_adjusted")
) -> pd.DataFrame:
    """Return one row per comparison of a frame of tests, and one column per test and value, such as `pearson_estimate`.

    A column such as `pearson_guard` has `guard` where even the test's smallest attainable p is not significant.
    """
    guarded = tests.assign(guard=["guard" if GUARD in note else "" for note in tests["note"]])
    table = guarded.pivot(index="comparison", columns="test", values=[*values, "guard"])
    table.columns = [f"{column[1]}_{column[0]}" for column in table.columns]
    for column in table.columns:
        if not column.endswith("_guard"):
            table[column] = table[column].astype(float)
    return table.loc[tests["comparison"].drop_duplicates()].reset_index()


def metric(key: str) -> str:
    """Return the printed name of a metric."""
    return printed_word("metric", key)


def estimator_phrase(key: str, pairs: str) -> str:
    """Return a phrase: the plasticity estimator, and the pairs of keys that it averages over."""
    return f"{printed_word('estimator', key)}, pairs of {printed_word('pairs', pairs)}"


def range_phrase(counts: pd.Series) -> str:
    """Return the smallest and largest of `counts` as text; one number if they are equal."""
    least, most = int(counts.min()), int(counts.max())
    return str(least) if least == most else f"{least} to {most}"


def ends(name: str) -> tuple[str, str]:
    """Return the names of the two columns that hold the interval of the column `name`."""
    return f"{name}_low", f"{name}_high"
