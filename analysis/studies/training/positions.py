"""Analyse SmolLM3 by position: plasticity at equal positions across phases, and against the accumulated bias."""

import re

import numpy as np
import pandas as pd
from scipy import optimize

from boundpaper.statistics.rounding import Interval

SHARED = ("0-1K", "1K-2K", "2K-4K")  # bins that can be computed in every phase
_END = re.compile(r"(\d+(?:\.\d+)?)(K?)")


def training_positions(reported_training_positions: pd.DataFrame, training_trajectory: pd.DataFrame) -> pd.DataFrame:
    """Return plasticity by bin of positions, with the bin's ends and middle in tokens (1K is 1,024).

    `share` is the middle over the captured context. `gathered_bias` is bias_strength times the middle: the positional
    term accumulated from the start of the context to the query. `expected` is the plasticity of pre-training
    checkpoints at this accumulated bias: a non-increasing least-squares fit (pool adjacent violators) to their bins,
    interpolated; empty outside their range. `gap` is plasticity minus expected. Extension bins are not used in the
    fit.
    """
    facts = training_trajectory[["checkpoint", "display_name", "phase", "order", "context", "bias_strength"]]
    table = facts.merge(reported_training_positions, on="checkpoint")
    ends = [_bin_ends(text) for text in table["bin"]]
    table["start"], table["end"] = [low for low, _ in ends], [high for _, high in ends]
    table["middle"] = (table["start"] + table["end"]) / 2
    table["share"] = table["middle"] / table["context"].astype(float)
    table["gathered_bias"] = table["bias_strength"] * table["middle"]
    table = table.rename(columns={"value": "plasticity", "low": "plasticity_low", "high": "plasticity_high"})
    table = table.sort_values(["order", "start"], ignore_index=True)
    table["extension"] = table["context"] > table["context"].min()

    pretraining = table[~table["extension"]].sort_values("gathered_bias", kind="stable")
    fit = optimize.isotonic_regression(pretraining["plasticity"].to_numpy(dtype=float), increasing=False).x
    biases = pretraining["gathered_bias"].to_numpy(dtype=float)
    inside = table["gathered_bias"].between(biases[0], biases[-1]) & table["plasticity"].notna()
    table["expected"] = np.where(inside, np.interp(table["gathered_bias"].to_numpy(dtype=float), biases, fit), np.nan)
    table["gap"] = table["plasticity"] - table["expected"]
    outside = "expected, gap: outside the range that pre-training covers"
    table["note"] = [
        reason or ("" if is_inside else outside) for reason, is_inside in zip(table["reason"], inside, strict=True)
    ]
    columns = ["checkpoint", "display_name", "phase", "order", "context", "extension", "bin", "start", "end", "middle"]
    columns += ["plasticity", "plasticity_low", "plasticity_high", "bias_strength", "share", "gathered_bias"]
    columns += ["expected", "gap"]
    return table[[*columns, "note"]]


def training_bin_means(training_positions: pd.DataFrame, training_trajectory: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over bins weighted by width, and the printed ap_overall; both agree if queries are spread evenly.

    `covered` is the share of the context that has bins.
    """
    known_bins = training_positions[training_positions["plasticity"].notna()]
    rows = []
    for checkpoint, bins in known_bins.groupby("checkpoint", sort=False):
        mean, interval = _weighted_mean(bins)
        rows.append(
            {
                "checkpoint": checkpoint,
                "bin_mean": mean,
                "bin_mean_low": interval.low,
                "bin_mean_high": interval.high,
                "covered": float((bins["end"] - bins["start"]).sum() / bins["context"].iloc[0]),
            }
        )
    table = training_trajectory[["checkpoint", "display_name", "ap_overall"]].merge(pd.DataFrame(rows), on="checkpoint")
    return table.assign(difference=table["bin_mean"] - table["ap_overall"])


def training_equal_positions(training_positions: pd.DataFrame, training_trajectory: pd.DataFrame) -> pd.DataFrame:
    """Return plasticity at the same positions in every phase: the extension tables' bins within 4K tokens.

    Finer bins of the pre-training table are averaged by width, assuming evenly spread queries; bin ends match
    exactly. `drop` is bin 0-1K minus bin 2K-4K; `drop_outer`, which every checkpoint has, is bin 1K-2K minus bin
    2K-4K. `_low` and `_high` are the range allowed by rounding. `ap_drop` is the printed drop over the checkpoint's
    window.
    """
    rows = []
    for checkpoint, bins in training_positions.groupby("checkpoint", sort=False):
        row: dict[str, object] = {"checkpoint": checkpoint}
        intervals: dict[str, tuple[float, Interval]] = {}
        notes = []
        for name in SHARED:
            low, high = _bin_ends(name)
            range_bins = bins[(bins["start"] >= low) & (bins["end"] <= high)]
            known_bins = range_bins[range_bins["plasticity"].notna()]
            key = name.replace("-", "_").lower()
            if known_bins.empty or (known_bins["end"] - known_bins["start"]).sum() < high - low:
                row |= {f"at_{key}": np.nan, f"at_{key}_low": np.nan, f"at_{key}_high": np.nan, f"bins_{key}": 0}
                notes.append(f"at_{key}: {range_bins['note'].iloc[0]}")
                continue
            mean, interval = intervals[name] = _weighted_mean(known_bins)
            row |= {f"at_{key}": mean, f"at_{key}_low": interval.low, f"at_{key}_high": interval.high}
            row[f"bins_{key}"] = len(known_bins)
        for name, nearer in (("drop", "0-1K"), ("drop_outer", "1K-2K")):
            if nearer not in intervals:
                row |= {name: np.nan, f"{name}_low": np.nan, f"{name}_high": np.nan}
                notes.append(f"{name}: no value at {nearer}")
                continue
            difference = intervals[nearer][1] - intervals["2K-4K"][1]
            row |= {name: intervals[nearer][0] - intervals["2K-4K"][0]}
            row |= {f"{name}_low": difference.low, f"{name}_high": difference.high}
        rows.append({**row, "note": "; ".join(notes)})
    facts = training_trajectory[["checkpoint", "display_name", "phase", "order", "context", "ap_drop"]]
    return facts.merge(pd.DataFrame(rows), on="checkpoint")


def _bin_ends(text: str) -> tuple[float, float]:
    """Return the ends in tokens of a bin such as `512-1K` or `1K-1.5K`.

    Each end has its own K; a bare number is in tokens. Raises ValueError if the text is not such a bin, or its ends
    do not increase.
    """
    matches = [_END.fullmatch(end) for end in text.split("-")]
    if len(matches) != 2 or None in matches:
        raise ValueError(f"bin {text!r}: write it as 512-1K")
    low, high = (float(match[1]) * (1024 if match[2] else 1) for match in matches if match)
    if low >= high:
        raise ValueError(f"bin {text!r}: the ends do not increase; write the smaller one first")
    return low, high


def _weighted_mean(bins: pd.DataFrame) -> tuple[float, Interval]:
    weights = (bins["end"] - bins["start"]).to_numpy(dtype=float)
    mean, low, high = (
        float(np.average(bins[name].to_numpy(dtype=float), weights=weights))
        for name in ("plasticity", "plasticity_low", "plasticity_high")
    )
    return mean, Interval(low, high)
