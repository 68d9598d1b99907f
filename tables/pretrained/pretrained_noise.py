"""What a capture of a pretrained model would differ by when made again."""

import pandas as pd

from artifacts.typeset.wording import listed
from tables import Column, Table, fixed, markup

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
    """Return the table."""
    rows = pretrained_noise.assign(label=pretrained_noise["metric"].map(ROWS), group=pretrained_noise["display_name"])
    counts = pretrained_noise.drop_duplicates("model")
    said = listed([f"{row['documents']} documents of {row['display_name']}" for _, row in counts.iterrows()])
    return Table(
        rows=rows,
        columns=[
            Column("label", "", markup),
            Column("first", "even", fixed(3), group="Mean over heads, documents"),
            Column("second", "odd", fixed(3), group="Mean over heads, documents"),
            Column("noise_sd", "of a capture", fixed(3), ci=("noise_low", "noise_high"), group="Standard deviation"),
            Column("twice_sd", "of two captures'\ndifference", fixed(3), group="Standard deviation"),
            Column(
                "twin_difference",
                "Reported,\none network twice",
                fixed(3),
                reason="note",
            ),
        ],
        groups="group",
        caption=(
            f"Noise of a capture: the same heads over the even and over the odd ones of {said}. Unit: one half of the "
            "documents. The last column is what the reported captures of two models with the same text weights differ "
            "by [@shcherb2026]."
        ),
        short="Noise of the captures of pretrained models",
        note=(
            "The standard deviation of a capture over all the documents is half the difference of its halves, and less "
            "by the factor $2\\sqrt{n_1 n_2}/(n_1 + n_2)$ where they are not as many; its 95 % interval is by "
            "chi-square with one degree of freedom, and wide, as one difference is all there is. "
            "The reported captures are of other models, contexts and numbers of documents."
        ),
    )
