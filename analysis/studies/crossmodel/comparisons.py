"""Quantify what the sources compare by eye: models at equal positions, families, profile shapes, and memory."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

FloatArray = npt.NDArray[np.float64]

SCORED_METRICS = ("ap_overall", "ap_last_20", "ap_drop")
SPLIT = 0.4  # share of the common range, where both captures of 32K and of 128K tokens have an edge of deciles
BYTES = 2  # bytes per weight or cached number in 16 bits
GIGA = 1e9


def equal_positions(decile_profiles: pd.DataFrame, captured_models: pd.DataFrame) -> pd.DataFrame:
    """Return each model's plasticity over the first 32,768 tokens, the only range that all captures share.

    It is computed from deciles, each weighted by its overlap with the range: `mean_32k` over all of it, `near` over its
    first 40 % (13,107 tokens, one decile of a capture of 131,072), `far` over the rest; `drop_32k` is near - far.
    `ranked` and `dropped` are the ranks of mean_32k (1 = highest) and drop_32k (1 = smallest).
    """
    table = captured_models[["model", "display_name", "family", "captured_context", "ap_overall", "ap_drop"]].copy()
    profiles = decile_profiles.set_index("model")[[f"d{number}" for number in range(10)]]
    shortest = int(table["captured_context"].min())
    boundary = round(shortest * SPLIT)
    for name, low, high in (("near", 0, boundary), ("far", boundary, shortest), ("mean_32k", 0, shortest)):
        table[name] = [
            _mean_over_positions(profiles.loc[model].to_numpy(dtype=float), int(context), low, high)
            for model, context in zip(table["model"], table["captured_context"], strict=True)
        ]
    table["drop_32k"] = table["near"] - table["far"]
    table["ranked"] = table["mean_32k"].rank(ascending=False).astype(int)
    table["dropped"] = table["drop_32k"].rank().astype(int)
    return table.sort_values("mean_32k", ascending=False, ignore_index=True)


def _mean_over_positions(deciles: FloatArray, context: int, low: float, high: float) -> float:
    """Return the mean of a profile, given in ten bins of equal width, over the positions from low to high."""
    edges = np.linspace(0, context, 11)
    overlap = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0, None)
    return float(overlap @ deciles / overlap.sum())


def predecessor_ratios(captured_models: pd.DataFrame) -> pd.DataFrame:
    """Compare Mistral-7B-Instruct-v0.2 with each Ministral 3: ratios of biases, differences of the other metrics."""
    table = captured_models.set_index("model")
    old = table.loc["mistral-v0.2-7b"]
    new = table[table["family"] == "Ministral 3"]
    return pd.DataFrame(
        {
            "model": new.index,
            "display_name": new["display_name"].to_numpy(),
            "bias_ratio": (old["bias_strength"] / new["bias_strength"]).to_numpy(),
            "window_ratio": (old["bias_window"] / new["bias_window"]).to_numpy(),
            "plane_var_difference": (old["plane_var"] - new["plane_var"]).to_numpy(),
            "ap_overall_difference": (old["ap_overall"] - new["ap_overall"]).to_numpy(),
            "ap_drop_difference": (old["ap_drop"] - new["ap_drop"]).to_numpy(),
        }
    )


def family_separation(captured_models: pd.DataFrame, matched_models: pd.DataFrame) -> pd.DataFrame:
    """Return how well each metric separates the families, over the 7 matched models and over the longest captures.

    `eta_squared` is the share of variance between families; `least_gap` the smallest distance between neighbouring
    families (lowest member of the upper minus highest of the lower, negative where they overlap), and `gap_share` is
    this distance over the widest family's range.
    """
    longest = captured_models[captured_models["captured_context"] == captured_models["captured_context"].max()]
    scopes = {"matched": matched_models[matched_models["in_source"]], "captured": longest}
    rows = []
    for scope, models in scopes.items():
        for metric in SCORED_METRICS:
            groups = {str(name): group[metric].to_numpy(dtype=float) for name, group in models.groupby("family")}
            pooled = np.concatenate(list(groups.values()))
            between_families = sum(len(group) * (group.mean() - pooled.mean()) ** 2 for group in groups.values())
            ordered = sorted(groups.values(), key=lambda group: float(group.mean()))
            gap = min(float(upper.min() - lower.max()) for lower, upper in pairwise(ordered))
            rows.append(
                {
                    "scope": scope,
                    "metric": metric,
                    "n": len(pooled),
                    "families": len(groups),
                    "eta_squared": float(between_families / ((pooled - pooled.mean()) ** 2).sum()),
                    "least_gap": gap,
                    "gap_share": gap / max(float(np.ptp(group)) for group in groups.values()),
                }
            )
    return pd.DataFrame(rows)


def family_means(captured_models: pd.DataFrame, matched_models: pd.DataFrame) -> pd.DataFrame:
    """Return each family's mean, least and greatest ap_drop, and its mean score, in three scopes.

    `source` are the 7 models that source 002 matches, `scored` all with a published score, `captured` all captures.
    """
    source = matched_models[matched_models["in_source"]]
    rows = []
    for scope, models in (("source", source), ("scored", matched_models), ("captured", captured_models)):
        for family, group in models.groupby("family", sort=False):
            drops = group["ap_drop"].to_numpy(dtype=float)
            rows.append(
                {
                    "scope": scope,
                    "family": family,
                    "n": len(group),
                    "ap_drop": drops.mean(),
                    "ap_drop_least": drops.min(),
                    "ap_drop_most": drops.max(),
                    "lbp": group["lbp"].mean() if scope != "captured" else np.nan,
                    "note": "" if scope != "captured" else "lbp: not every member was scored",
                }
            )
    return pd.DataFrame(rows)


def profile_shapes(decile_profiles: pd.DataFrame) -> pd.DataFrame:
    """Return the shape of each decile profile: straightness, and where along the context it falls.

    `r_squared` is of a straight-line fit; `first_half` and `second_half` are the falls over the four steps between the
    first and the last five deciles, `early` and `late` the falls without the steep first step (deciles 1 to 5 and 5
    to 9, counted from 0); `first_step` and `last_step` are shares of the whole fall.
    """
    names = [f"d{number}" for number in range(10)]
    positions = np.arange(10.0)
    rows = []
    for _, row in decile_profiles.iterrows():
        values = row[names].to_numpy(dtype=float)
        fall = values[0] - values[9]
        rows.append(
            {
                "model": row["model"],
                "display_name": row["display_name"],
                "family": row["family"],
                "r_squared": float(np.corrcoef(positions, values)[0, 1] ** 2),
                "whole": fall,
                "first_half": values[0] - values[4],
                "second_half": values[5] - values[9],
                "early": values[1] - values[5],
                "late": values[5] - values[9],
                "first_step": (values[0] - values[1]) / fall,
                "last_step": (values[8] - values[9]) / fall,
            }
        )
    return pd.DataFrame(rows)


def inference_memory(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Return the memory in GB (1e9 bytes) of each scored model at 16 bits: weights, and full key-value cache.

    Weights: 2 bytes per nominal parameter. Cache of one sequence: layers x key heads x head dimension x 2 (keys and
    values) x 2 bytes x captured context.
    """
    models = matched_models
    weights = models["parameters_nominal_b"] * BYTES
    numbers = models["layers"] * models["key_heads"] * models["head_dim"] * 2 * models["captured_context"]
    cache = numbers.astype(float) * BYTES / GIGA
    return pd.DataFrame(
        {
            "model": models["model"],
            "display_name": models["display_name"],
            "weights_gb": weights,
            "cache_gb": cache,
            "total_gb": weights + cache,
        }
    )
