"""Compare a pretrained model's attention with attention recomputed without rotation."""

from typing import Any

import pandas as pd

from analysis.studies.pretrained._by_text import TextQuantity, values_by_text
from analysis.studies.pretrained._named import display_names, table_of_rows
from analysis.studies.pretrained.beginning import UNROTATED
from boundpaper.errors import DataError
from boundpaper.statistics.locations.student import student_interval

TOKENS = 1024  # tokens per text in the recipe
NEIGHBOURS = 5
QUANTITIES = {"first": "first_attention", "local": "local_attention"}
# percent of uniform attention that goes to the preceding NEIGHBOURS tokens, averaged over tokens
UNIFORM_LOCAL = 100 * sum(min(NEIGHBOURS, place) / (place + 1) for place in range(1, TOKENS)) / (TOKENS - 1)
RERUN = "python build.py run --recipe artifacts/recipes/pretrained.yaml"


def pretrained_rotation(
    attention_patterns: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return attention of pretrained models with the rotation, and recomputed without it.

    There is one row per model, quantity (attention to the first token, to the five preceding ones) and computation
    (`kept`, `left_out`, and `change`, the second minus the first by text); `even` is the value of uniform attention
    for texts of the recipe's length. Values are percentages, means over heads and texts (with the tokenizer's usual
    beginning); intervals are Student's over texts. Raises DataError if no pretrained model was measured both ways, or
    the texts differ.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        by_text = attention_patterns[(attention_patterns["model"] == model) & (attention_patterns["unit_id"] != "")]
        if not (by_text["condition"] == UNROTATED).any():
            continue
        for quantity, metric in QUANTITIES.items():
            rotated, left_out = (
                values_by_text(by_text, model, TextQuantity(metric, "attention_patterns", metric, condition, 100.0))
                for condition in ("", UNROTATED)
            )
            if list(rotated.index) != list(left_out.index):
                raise DataError(
                    f"{model}: {metric} with and without rotation was measured on different texts; run: {RERUN}"
                )
            for computed, values in {"kept": rotated, "left_out": left_out, "change": left_out - rotated}.items():
                low, high = student_interval(values.to_numpy(dtype=float)) or (None, None)
                rows.append(
                    {
                        **{"model": model, "display_name": name, "quantity": quantity, "computed": computed},
                        "value": float(values.mean()),
                        "low": low,
                        "high": high,
                        "n": len(values),
                        "note": "" if low is not None else "low, high: one text, or texts that agree exactly",
                    }
                )
        counts = {"value": UNIFORM_LOCAL, "n": len(rotated), "note": "low, high: follows from the length alone"}
        rows.append({"model": model, "display_name": name, "quantity": "local", "computed": "even", **counts})
    return table_of_rows(rows, f"attention_patterns has no pretrained model measured without rotation; run: {RERUN}")
