"""Document 002: claims on the score's correlation with the plasticity drop and with size, and on the signs of drops."""

import pandas as pd

from boundpaper.claims import Verdict, claim, judge, quote


@claim("002, Observations: ap_drop", failure="control")
def c002_drop_beats_size(matched_models: pd.DataFrame) -> Verdict:
    """The score correlates more with the plasticity drop than with the number of parameters, which needs no capture."""
    rows = matched_models[matched_models["in_source"].astype(bool)]
    drop_r, size_r = (float(rows[name].corr(rows["lbp"])) for name in ("ap_drop", "log_parameters"))
    return judge(
        abs(drop_r) > abs(size_r),
        f"Over the same {len(rows)} models the score correlates with ap_drop at r = {drop_r:.2f} and with the "
        f"logarithm of the parameters at r = {size_r:.2f}; the document compares its metric with no such baseline.",
        otherwise="not supported",
        recomputed=f"|r| = {abs(drop_r):.2f} against {abs(size_r):.2f}",
        n=len(rows),
    )


@claim("002, Per-Length-Bin Plasticity Profile, Table 2")
def c002_drop_signs(reported_length_bins: pd.DataFrame, reported_plasticity: pd.DataFrame) -> Verdict:
    """Losses of plasticity over the context have the same sign in both of the document's tables."""
    models = list(dict.fromkeys(reported_length_bins["model"]))
    totals = [quote(reported_length_bins, model=model, bin="total") for model in models]
    drops = [quote(reported_plasticity, model=model, metric="ap_drop") for model in models]
    same_sign_count = sum(total.number * drop.number > 0 for total, drop in zip(totals, drops, strict=True))
    return judge(
        same_sign_count == len(models),
        "Table 2 takes the last bin minus the first and the table of all models the first fifth minus the last: the "
        f"signs agree for {same_sign_count} of {len(models)} models, as of {models[0]} ({totals[0].printed} and "
        f"{drops[0].printed}).",
        reported=f"{totals[0].printed}, {drops[0].printed}",
        recomputed=f"{same_sign_count} of {len(models)} alike",
        n=len(models),
    )
