"""Compute plasticity of pretrained models along the context, with each bin's queries rotated to one position."""

import pandas as pd

from analysis.studies.pretrained._named import display_names
from analysis.studies.pretrained.other_texts import CODE
from boundpaper.statistics.locations.student import student_interval

ALIGNED = "aligned_full"
KEY_HEAD = ["layer", "key_head"]


def pretrained_one_position(
    pretrained_widths: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return plasticity of queries rotated to one position, in the widest bins, one row per capture.

    `first` and `last` are means over heads in the first bin with earlier keys and in the last bin; `fall` is first
    minus last, averaged over key heads (the units), with Student's interval.
    """
    rows = []
    names = display_names(pretrained_models, subjects)
    widest = pretrained_widths["width"] == pretrained_widths.groupby("model")["width"].transform("max")
    for model, cells in pretrained_widths[widest & (pretrained_widths["estimator"] == ALIGNED)].groupby("model"):
        quarters = cells.pivot(index=[*KEY_HEAD, "head"], columns="low", values="plasticity").dropna()
        first, last = quarters.iloc[:, 0], quarters.iloc[:, -1]
        fall = (first - last).groupby(level=KEY_HEAD).mean()
        low, high = student_interval(fall.to_numpy(dtype=float)) or (None, None)
        on_code = str(model).endswith(CODE)
        rows.append(
            {
                **{"model": model, "display_name": names[str(model).removesuffix(CODE)]},
                **{"texts": "code" if on_code else "prose", "tokens": int(cells["high"].max())},
                **{"first": float(first.mean()), "last": float(last.mean())},
                **{"fall": float(fall.mean()), "low": low, "high": high},
                **{"key_heads": len(fall), "heads": len(quarters)},
                "note": "" if low is not None else "low, high: one key head, or several that agree exactly",
            }
        )
    return pd.DataFrame(rows)
