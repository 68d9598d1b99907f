"""How the tiny pair gets keys wrong: classes of errors, those inside runs of equal digits apart from truncations."""

from __future__ import annotations

import pandas as pd

from analysis.statistics import wilson_interval
from analysis.studies.lab._pair import of_pair


def lab_error_classes(context_length: pd.DataFrame) -> pd.DataFrame:
    """Wrong keys by class, over training seeds and lengths under a model's own encoding: counts and shares of errors.

    `errors` are all wrong answers of a side, `share` the class's part of them with its Wilson interval, which takes
    prompts as independent; `seeds` those with an error of the class. `run_deletion` lost digits inside a run of equal
    ones; of these `at_end` could be truncations as well.
    """
    rows = of_pair(context_length)
    rows = rows[rows["condition"].str.fullmatch(r"own/[0-9.]+x") & rows["metric"].str.startswith("class_")]
    rows = rows.assign(kind=rows["metric"].str.removeprefix("class_"))
    found = []
    for side, part in rows.groupby("side", sort=False):
        wrong = part[~part["kind"].isin(["exact", "run_deletion_at_end"])]
        errors = int(wrong["value"].sum())
        at_end = int(part.loc[part["kind"] == "run_deletion_at_end", "value"].sum())
        for kind, of_kind in wrong.groupby("kind", sort=True):
            count = int(of_kind["value"].sum())
            low, high = wilson_interval(count, errors) if errors else (float("nan"), float("nan"))
            by_seed = of_kind.groupby("training_seed")["value"].sum()
            found.append(
                {
                    "side": side,
                    "kind": kind,
                    "count": count,
                    "errors": errors,
                    "share": count / errors if errors else float("nan"),
                    "share_low": low,
                    "share_high": high,
                    "at_end": at_end if kind == "run_deletion" else 0,
                    "seeds": int((by_seed > 0).sum()),
                    "note": "" if errors else "no wrong key",
                }
            )
    return pd.DataFrame(found)
