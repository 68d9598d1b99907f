"""Compare passkey retrieval of four versions of a model: original, without rotation, distilled, and trained further."""

import re
from typing import Any

import pandas as pd

from analysis.studies.pretrained._pairs import NEAR, students_of_pairs
from boundpaper.errors import DataError
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected
from boundpaper.statistics.proportion import mcnemar, wilson_interval

OWN_ENCODING = re.compile(r"own/(?P<ratio>[0-9.]+)x")
CONTRASTS = {
    "removed against rotation": ("untouched", "teacher"),
    "distilled against removed": ("nope", "untouched"),
    "distilled against trained on": ("nope", "continued"),
}
RERUN = "python build.py run --recipe artifacts/recipes/distilled-retrieval.yaml"


def distillation_keys(
    context_length: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return keys found, one row per pair, prompt length and model, with Wilson's interval over prompts.

    Raises DataError if no student has rows.
    """
    rows: list[dict[str, Any]] = []
    for pair, column, ratio, items in _right_by_prompt(context_length, subjects):
        tokens = round(ratio * _position_count(pretrained_models, pair))
        share, n = float(items.mean()), len(items)
        low, high = wilson_interval(round(share * n), n)
        row = {"pair": pair, "column": column, "tokens": tokens}
        rows.append(row | {"share": share, "low": low, "high": high, "n": n})
    return pd.DataFrame(rows).sort_values(["pair", "tokens", "column"], ignore_index=True)


def distillation_key_tests(
    context_length: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Return McNemar's exact test of two models on the same prompts, one row per pair, contrast and length.

    `study` is the pair, `comparison` has the form `CONTRAST, N tokens`. Holm is over the lengths of one contrast of a
    pair. Raises DataError if no student has rows, or two models had different prompts.
    """
    by_key = {(pair, column, ratio): items for pair, column, ratio, items in _right_by_prompt(context_length, subjects)}
    tests: list[Estimate] = []
    for pair, ratio in sorted({(pair, ratio) for pair, _, ratio in by_key}):
        tokens = round(ratio * _position_count(pretrained_models, pair))
        for contrast, (first, second) in CONTRASTS.items():
            x, y = by_key.get((pair, first, ratio)), by_key.get((pair, second, ratio))
            if x is None or y is None:
                continue
            if set(x.index) != set(y.index):
                raise DataError(f"context_length: {first} and {second} of {pair} got different prompts; run: {RERUN}")
            name = f"{contrast}, {tokens} tokens"
            tests.append(mcnemar(x, y.reindex(x.index), study=pair, comparison=name, unit="prompt"))
    return frame(corrected(tests, test_families, "distillation_key_tests", lambda row: row.study))


def _right_by_prompt(context_length: pd.DataFrame, subjects: pd.DataFrame) -> list[tuple[str, str, float, pd.Series]]:
    """Return, for each pair, column and ratio of lengths, whether (1 or 0) each prompt was answered rightly."""
    answers = context_length[context_length["metric"] == "passkey_right"]
    groups = []
    for pair, models in students_of_pairs(subjects).items():
        for column, model in models.items():
            cells = answers[answers["model"] == (model + NEAR if column == "teacher" else model)]
            for condition, items in cells.groupby("condition"):
                if match := OWN_ENCODING.fullmatch(str(condition)):
                    table = items.assign(item=items["seed"].astype(str) + "/" + items["unit_id"].astype(str))
                    groups.append((pair, column, float(match["ratio"]), table.set_index("item")["value"].sort_index()))
    if not any(column in ("nope", "continued") for _, column, _, _ in groups):
        raise DataError(f"context_length has no student; run: {RERUN}")
    return groups


def _position_count(pretrained_models: pd.DataFrame, pair: str) -> int:
    return int(pretrained_models.loc[pretrained_models["model"] == pair, "positions"].iloc[0])
