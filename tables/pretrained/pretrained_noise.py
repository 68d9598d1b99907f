"""Estimated difference between repeated captures of a pretrained model."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, markup
from boundpaper.typeset.wording import listed

ROWS = {
    "ap_overall": "plasticity, overall",
    "ap_first_20": "plasticity, first 20 %",
    "ap_last_20": "plasticity, last 20 %",
    "ap_drop": "drop of plasticity",
    "bias_window": "bias per window",
    "r_q_a": "$r_q^a$ on the axis of drift",
    "r_k_a": "$r_k^a$ on the axis of drift",
    "plane_var": "variance in plane",
}


def table(pretrained_noise: pd.DataFrame) -> Table:
    """Return one row per model and metric."""
    rows = pretrained_noise.assign(label=pretrained_noise["metric"].map(ROWS), group=pretrained_noise["display_name"])
    counts = pretrained_noise.drop_duplicates("model")
    ways = listed([f"{splits} ways" for splits in counts["splits"].unique()])
    texts = listed([f"{row['documents']} documents of {row['display_name']}" for _, row in counts.iterrows()])
    return Table(
        rows=rows,
        columns=[
            Column("label", "", markup),
            Column("largest", "Largest\ndifference\nof halves", fixed(3)),
            Column("noise_sd", "of a capture", fixed(3), ci=("noise_low", "noise_high"), group="Standard deviation"),
            Column("twice_sd", "of two captures'\ndifference", fixed(3), group="Standard deviation"),
            Column("twin_difference", "Reported,\none network twice", fixed(3), reason="note"),
        ],
        groups="group",
        caption=(
            f"Noise of a capture: the same heads over halves of {texts}, split in {ways}. Unit: one split. The last "
            "column is the difference of the reported captures of two models with the same text weights [@shcherb2026]."
        ),
        short="Noise of the captures of pretrained models",
        note=(
            "The standard deviation of a capture over all the documents is half the quadratic mean of its halves' "
            "differences, less by the factor $2\\sqrt{n_1 n_2}/(n_1 + n_2)$ where halves are not as many. The splits "
            "are orthogonal; the 95 % interval is by chi-square with as many degrees of freedom. "
            "The reported captures are of other models, contexts and numbers of documents."
        ),
    )
