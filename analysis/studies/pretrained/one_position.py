"""Compute plasticity of pretrained models at one position, along the context, and what the exchange of keys changes."""

import numpy as np
import pandas as pd

from analysis.studies.pretrained._named import display_names
from analysis.studies.pretrained.other_texts import CODE
from boundpaper.statistics.locations.student import student_interval

ALIGNED = "aligned_full"
KEY_HEAD = ["layer", "key_head"]
EXCHANGED = ("plasticity", "sway", "position_part", "content_part", "gap", "spread", "linear_share")


def pretrained_one_position(
    pretrained_widths: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Plasticity of queries rotated to one position: one row per capture, in its widest bins.

    `first` and `last` are means over heads in the first bin that has keys before it and in the last one; `fall` is the
    first less the last, mean over key heads, which are the units, with Student's interval.
    """
    rows = []
    names = display_names(pretrained_models, subjects)
    widest = pretrained_widths["width"] == pretrained_widths.groupby("model")["width"].transform("max")
    for model, part in pretrained_widths[widest & (pretrained_widths["estimator"] == ALIGNED)].groupby("model"):
        places = part.pivot(index=[*KEY_HEAD, "head"], columns="low", values="plasticity").dropna()
        first, last = places.iloc[:, 0], places.iloc[:, -1]
        fall = (first - last).groupby(level=KEY_HEAD).mean()
        low, high = student_interval(fall.to_numpy(dtype=float)) or (None, None)
        on_code = str(model).endswith(CODE)
        rows.append(
            {
                **{"model": model, "display_name": names[str(model).removesuffix(CODE)]},
                **{"texts": "code" if on_code else "prose", "tokens": int(part["high"].max())},
                **{"first": float(first.mean()), "last": float(last.mean())},
                **{"fall": float(fall.mean()), "low": low, "high": high},
                **{"key_heads": len(fall), "heads": len(places)},
                "note": "" if low is not None else "low, high: one key head, or several that agree exactly",
            }
        )
    return pd.DataFrame(rows)


def pretrained_exchange_levels(
    pretrained_exchange: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Exchange of positions in pretrained models by the distance between two keys, early and late in the context.

    One row per capture, range of distances, quantity and way to average heads (`all` alike, or by `cost`: what a head's
    removal costs keys, never less than 0). `first` is the mean in the first quarter of queries that has such keys,
    `last` in the last one; `change` is the second less the first, of heads alike with Student's interval over key
    heads. Distances that only the last quarter has are left out.
    """
    rows = []
    names = display_names(pretrained_models, subjects)
    for (model, low, high), part in pretrained_exchange.groupby(["model", "apart_low", "apart_high"]):
        for quantity in EXCHANGED:
            places = part.pivot(index=[*KEY_HEAD, "head", "cost"], columns="low", values=quantity)
            places = places.dropna(axis=1, how="all").dropna()
            if places.shape[1] < 2:
                continue
            change = places.iloc[:, -1] - places.iloc[:, 0]
            units = change.groupby(level=KEY_HEAD).mean().to_numpy(dtype=float)
            cost = np.maximum(places.index.get_level_values("cost").to_numpy(dtype=float), 0.0)
            for weights, shares in (("all", np.ones(len(places))), ("cost", cost)):
                first, last = (float(np.average(places.iloc[:, at], weights=shares)) for at in (0, -1))
                ends = student_interval(units) if weights == "all" else None
                rows.append(
                    {"model": model, "display_name": names[str(model).removesuffix(CODE)]}
                    | {"texts": "code" if str(model).endswith(CODE) else "prose", "apart_low": low, "apart_high": high}
                    | {"quantity": quantity, "weights": weights, "first_low": places.columns[0]}
                    | {
                        "first": first,
                        "last": last,
                        "change": last - first,
                        "low": ends and ends[0],
                        "high": ends and ends[1],
                    }
                    | {"key_heads": len(units), "heads": len(places)}
                    | {"note": "" if ends else "low, high: of heads alike alone, over key heads"}
                )
    return pd.DataFrame(rows)
