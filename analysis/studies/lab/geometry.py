"""The head geometry of the tiny pair, with training seeds as the unit: what taking the rotation out does to it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.studies.lab._pair import of_pair, over_seeds
from artifacts.errors import DataError

MEANS = (
    *("ap_overall", "ap_first_20", "ap_last_20", "ap_drop"),
    *("r_q_a", "r_k_a", "linear_share_q", "linear_share_k", "r2_pos"),
    *("bias_strength", "bias_window", "separation_strength", "plane_var"),
    *("pc0_explained", "pc0_r_q", "pc0_r_k", "gap_by_bin"),
)
SIZES = ("r_k_a", "bias_strength", "bias_window", "pc0_r_q", "pc0_r_k")
KINDS = ("position-dominated", "Q-positional", "K-positional", "content-focused", "mixed")
PER_SEED = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop", "bias_window", "r_q_a", "r_k_a", "plane_var")
SETTINGS = ("context", "estimator", "pairs", "bins", "min_queries")


def lab_geometry(model_metrics: pd.DataFrame, head_metrics: pd.DataFrame) -> pd.DataFrame:
    """Metrics of heads of the tiny pair: mean of each side over training seeds, and the paired difference.

    A seed's value is the mean over its heads. `NAME_size` is the mean of absolute values, where heads of opposite sign
    cancel in the plain mean; `share_KIND` is the share of heads whose first component is of that kind.

    Raises
    ------
    DataError
        When there is no measurement of the pair, a metric is absent, or a head has no first component.
    """
    known = of_pair(model_metrics)
    absent = sorted(set(MEANS) - set(known["metric"]))
    if absent:
        raise DataError(f"model_metrics of the tiny pair lacks {', '.join(absent)}; measure the pair again")
    means = known[known["metric"].isin(MEANS)]
    heads = of_pair(head_metrics)
    unknown = heads[~heads["pc0_kind"].isin(KINDS)]
    if len(unknown):
        row = unknown.iloc[0]
        raise DataError(
            f"head_metrics: {row['model']}, layer {row['layer']}, head {row['head']} has the first component "
            f"{row['pc0_kind']!r}, none of {', '.join(KINDS)}"
        )
    per_head = {f"{name}_size": heads[name].abs() for name in SIZES}
    per_head |= {f"share_{kind}": (heads["pc0_kind"] == kind).astype(float) for kind in KINDS}
    keys = ["model", "side", "training_seed"]
    made = [
        pd.DataFrame(heads[keys].assign(metric=name, value=values).groupby([*keys, "metric"])["value"].mean())
        for name, values in per_head.items()
    ]
    rows = pd.concat([means, *(each.reset_index() for each in made)], ignore_index=True)
    table = over_seeds(rows, ["metric"]).set_index("metric")
    return table.loc[[*MEANS, *per_head]].reset_index()


def lab_geometry_seeds(model_metrics: pd.DataFrame) -> pd.DataFrame:
    """Each tiny model by itself: means over its heads with 95 % intervals from resampled key heads, and the settings.

    Raises
    ------
    DataError
        When there is no measurement of the pair, or a metric is absent.
    """
    known = of_pair(model_metrics)
    rows = []
    for (seed, side), part in known.groupby(["training_seed", "side"], sort=False):
        by_name = part.set_index("metric")
        absent = sorted(set(PER_SEED) - set(by_name.index))
        if absent:
            raise DataError(f"model_metrics/{part['model'].iloc[0]}.csv lacks {', '.join(absent)}; measure it again")
        first = by_name.loc["ap_overall"]
        row: dict[str, Any] = {"model": first["model"], "side": side, "training_seed": seed}
        row |= {name: first[name] for name in (*SETTINGS, "heads", "key_heads")}
        reasons = []
        for name in PER_SEED:
            each = by_name.loc[name]
            row |= {name: each["value"], f"{name}_low": each["ci_low"], f"{name}_high": each["ci_high"]}
            if each["reason"]:
                reasons.append(f"{name}: {str(each['reason']).replace(';', ',')}")
        rows.append({**row, "reason": "; ".join(reasons)})
    table = pd.DataFrame(rows).sort_values(["training_seed", "side"], ascending=[True, False], ignore_index=True)
    if len(table[list(SETTINGS)].drop_duplicates()) > 1:
        raise DataError("the tiny models were measured with different settings; measure all with the same")
    return table
