"""What keys the tiny pair finds, tells and ranks: by distance from key to question, by wording, by depth, by length."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from analysis.statistics import wilson_interval
from analysis.studies.lab._pair import of_pair, over_seeds
from artifacts.errors import DataError

EDGES = (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # of distances, over the training length
SPANS = {"near": (0.0, 1.0), "edge": (1.0, 1.25), "far": (1.25, 4.0)}
CHOICES = ("verification_accuracy", "verification_auc", "ranking_likelihood", "ranking_yes")
MISSES = ("one-digit", "swapped", "shortened", "other")
PART = r"^own/(?P<ratio>[0-9.]+)x/(?P<kind>form|depth):(?P<part>.+)$"


def lab_key_distances(context_length: pd.DataFrame, lab_pair_models: pd.DataFrame) -> pd.DataFrame:
    """Keys found by the distance from key to question, over all prompts of a model under its own encoding.

    A distance is the tokens from the first digit of a key to the end of the prompt; `low` (included) and `high` (not
    included) are over the training length. `right` of `n` prompts are pooled over training seeds, which ask the same
    prompts: the spread over seeds is `least` and `most`, shares of single seeds.
    """
    spans = {f"{low:g}-{high:g}": (low, high) for low, high in pairwise(EDGES)}
    return _by_distance(_keys(context_length, lab_pair_models), spans).drop(columns="span")


def lab_key_spans(context_length: pd.DataFrame, lab_pair_models: pd.DataFrame) -> pd.DataFrame:
    """Keys found in prompts longer than the training length: near ones, those at its edge, and far ones.

    Columns as of `lab_key_distances`; a key is `near` below the training length and `far` from 1.25 times of it.
    """
    keys = _keys(context_length, lab_pair_models)
    return _by_distance(keys[keys["ratio"] > 1], SPANS)


def _keys(context_length: pd.DataFrame, lab_pair_models: pd.DataFrame) -> pd.DataFrame:
    """One row a prompt: whether its key was found, and how far it stands over the training length."""
    rows = of_pair(context_length)
    rows = rows[rows["condition"].str.fullmatch(r"own/[0-9.]+x")]
    by = ["model", "side", "training_seed", "condition", "unit_id", "seed"]
    found = rows[rows["metric"] == "passkey_right"][[*by, "value"]]
    far = rows[rows["metric"] == "key_distance"].dropna(subset="value")[[*by, "value"]]
    keys = found.merge(far, on=by, how="left", suffixes=("", "_far"), validate="one_to_one")
    if keys["value_far"].isna().any():
        model = keys.loc[keys["value_far"].isna(), "model"].iloc[0]
        raise DataError(
            f"context_length of {model}: a key has no distance; run: python build.py run context_length --model {model}"
        )
    trained = int(lab_pair_models["training_length"].iloc[0])
    keys["ratio"] = keys["condition"].str.extract(r"/([0-9.]+)x")[0].astype(float)
    return keys.assign(distance=keys["value_far"] / trained)


def _by_distance(keys: pd.DataFrame, spans: dict[str, tuple[float, float]]) -> pd.DataFrame:
    rows = []
    for side, given in keys.groupby("side", sort=False):
        for span, (low, high) in spans.items():
            part = given[(given["distance"] >= low) & (given["distance"] < high)]
            if part.empty:
                continue
            seeds = part.groupby("training_seed")["value"].mean()
            rows.append(
                {
                    "side": side,
                    "span": span,
                    "low": low,
                    "high": high,
                    "right": int(part["value"].sum()),
                    "n": len(part),
                    "share": float(part["value"].mean()),
                    "least": float(seeds.min()),
                    "most": float(seeds.max()),
                    "seeds": len(seeds),
                }
            )
    return pd.DataFrame(rows).sort_values(["side", "low"], ascending=[False, True], ignore_index=True)


def lab_choices(context_length: pd.DataFrame) -> pd.DataFrame:
    """Keys verified and ranked, by length: means over training seeds and paired differences (`over_seeds`).

    `verification_auc` is the chance that an exact key has a higher probability of yes than a near miss, with
    `verification_auc_MISS` for one kind of miss; `ranking_likelihood` and `ranking_yes` the share of four candidates
    ranked first by likelihood and by the probability of yes. `chance` is what a guess gives; `n` items a seed.
    `rope_surely` and `drope_surely` are the least over seeds of the lower ends of Wilson's 95 % interval, for rankings.
    """
    rows = of_pair(context_length)
    metrics = [*CHOICES, *(f"verification_auc_{miss}" for miss in MISSES)]
    rows = rows[rows["metric"].isin(metrics) & rows["condition"].str.fullmatch(r"own/[0-9.]+x")]
    lost = rows[rows["value"].isna()]
    if len(lost):
        raise DataError(f"context_length of {lost.iloc[0]['model']}: {lost.iloc[0]['reason']}")
    found = over_seeds(rows, ["metric", "condition"])
    found["ratio"] = found["condition"].str.extract(r"/([0-9.]+)x")[0].astype(float)
    found["chance"] = [0.25 if str(metric).startswith("ranking") else 0.5 for metric in found["metric"]]
    counts = rows.groupby(["metric", "condition"])["n"].min()
    found["n"] = [int(counts[metric, name]) for metric, name in zip(found["metric"], found["condition"], strict=True)]
    for side in ("rope", "drope"):
        found[f"{side}_surely"] = [
            wilson_interval(round(row[f"{side}_least"] * row["n"]), int(row["n"]))[0]
            if str(row["metric"]).startswith("ranking")
            else None
            for row in found.to_dict("records")
        ]
    empty = found["rope_surely"].isna() & found["note"].eq("")
    found.loc[empty, "note"] = "no bound: not a share of items"
    order = {name: place for place, name in enumerate(metrics)}
    return found.sort_values(
        ["metric", "ratio"], key=lambda each: each.map(order) if each.name == "metric" else each, ignore_index=True
    )


def lab_key_prompts(context_length: pd.DataFrame) -> pd.DataFrame:
    """Keys retrieved by wording of the prompt and by depth of the key, over training seeds (`over_seeds`).

    `kind` is `form` or `depth`, `part` the wording, or the fifth of the context in which the key lies (0 first).
    """
    rows = of_pair(context_length)
    rows = rows[rows["metric"].eq("passkey_exact")]
    parts = rows["condition"].str.extract(PART)
    rows = rows[parts["kind"].notna()]
    found = over_seeds(rows, ["condition"])
    named = found["condition"].str.extract(PART)
    found = found.assign(ratio=named["ratio"].astype(float), kind=named["kind"], part=named["part"])
    return found.sort_values(["ratio", "kind", "part"], ignore_index=True)
