"""Mistral-7B-Instruct-v0.2 and the Ministral 3 models: compared as in the study, and over the same positions."""

import pandas as pd

from boundpaper.store.frames import wide
from boundpaper.tables import Column, Table, fixed, integer
from boundpaper.typeset.wording import listed, whole

PREDECESSOR = "mistral-v0.2-7b"


def table(
    reported_mistral_predecessor: pd.DataFrame, predecessor_ratios: pd.DataFrame, equal_positions: pd.DataFrame
) -> Table:
    """Return one row per model."""
    facts = equal_positions[["model", "display_name", "captured_context", "mean_32k", "drop_32k"]]
    rows = wide(reported_mistral_predecessor, by=["model"]).merge(facts, on="model")
    rows = rows.assign(
        token=1e4 * rows["bias_strength"],
        window=rows["bias_strength"] * rows["captured_context"].astype(float),
        later=rows["model"] != PREDECESSOR,
    )
    rows["rule"] = rows["later"] & ~rows["later"].shift(fill_value=False)
    shared = int(facts["captured_context"].min())
    ratios: dict[str, list[str]] = {}
    for _, row in predecessor_ratios.iterrows():
        pair = " and ".join(fixed(2).show(row[name], "plain") for name in ("bias_ratio", "window_ratio"))
        ratios.setdefault(pair, []).append(row["display_name"])
    folds = [f"{pair} ({listed(names)})" for pair, names in ratios.items()]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("captured_context", "Captured\ncontext", integer(), unit="tokens"),
            Column("ap_overall", "overall", fixed(3), group="Own context"),
            Column("ap_drop", "drop", fixed(3), group="Own context"),
            Column("mean_32k", "mean", fixed(3), group=f"First {shared // 1024}K"),
            Column("drop_32k", "drop", fixed(3), group=f"First {shared // 1024}K"),
            Column("token", "per token\n($10^{-4}$)", fixed(1), group="Bias"),
            Column("window", "per\nwindow", fixed(1), group="Bias"),
            Column("plane_var", "Variance\nin plane", fixed(3)),
        ],
        rule_before="rule",
        caption=(
            "Mistral-7B-Instruct-v0.2 beside the Ministral 3 models. Values over each model's own context, bias per "
            "token and variance in plane as printed in the study [@shcherb2026]; the first "
            f"{shared // 1024}K follow from its deciles. Unit: one model, mean over heads."
        ),
        short="Mistral-7B-Instruct-v0.2 beside Ministral 3",
        note=(
            f"First {shared // 1024}K: mean of the deciles over the first {whole(shared)} tokens, and the mean over "
            "the first 40 % of them minus that over the rest. Bias of Mistral over that of each Ministral, per token "
            f"and per window: {listed(folds)}. The biases of Ministral were rounded to $10^{{-4}}$ before they were "
            "printed, so the ratios are known to within a sixth."
        ),
    )
