"""The head geometry of the tiny pair: both models over training seeds, and their paired difference."""

import pandas as pd

from artifacts.typeset.wording import estimator, listed, tokens
from tables import Column, Table, fixed, markup

ROWS = {
    "Plasticity": {
        "ap_overall": "overall",
        "ap_first_20": "first 20 %",
        "ap_last_20": "last 20 %",
        "ap_drop": "drop",
    },
    "Position in queries and keys": {
        "r_q_a": "$|r_q^a|$ on the axis of drift",
        "r_k_a_size": "$|r_k^a|$ on the axis of drift",
        "linear_share_q": "share of query variance linear in position",
        "linear_share_k": "share of key variance linear in position",
    },
    "Bias": {
        "bias_strength": "per token",
        "bias_strength_size": "per token, absolute",
        "bias_window": "per window",
        "bias_window_size": "per window, absolute",
    },
    "Plane": {
        "separation_strength": "separation strength",
        "plane_var": "variance in plane",
    },
    "First component": {
        "pc0_explained": "share of the variance",
        "pc0_r_q_size": "$|r_q|$",
        "pc0_r_k_size": "$|r_k|$",
    },
    "Share of heads by first component": {
        "share_position-dominated": "position-dominated",
        "share_Q-positional": "Q-positional",
        "share_K-positional": "K-positional",
        "share_content-focused": "content-focused",
        "share_mixed": "mixed",
    },
}
SIDES = {"rope": "RoPE", "drope": "DroPE", "difference": "Difference"}


def table(lab_geometry: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Table:
    """Return the table."""
    values = [f"{side}{end}" for side in SIDES for end in ("", "_low", "_high")]
    by_metric = lab_geometry.set_index("metric")
    rows = []
    for group, names in ROWS.items():
        for name, label in names.items():
            found = by_metric.loc[name]
            row: dict[str, object] = {"group": group, "label": label}
            row.update({column: found[column] for column in (*values, "note")})
            for side in ("rope", "drope"):
                low, high = by_metric[f"{side}_low"][name], by_metric[f"{side}_high"][name]
                row[f"{side}_half"] = None if pd.isna(low) else (high - low) / 2  # one seed has no interval
            rows.append(row)
    seeds = [str(seed) for seed in sorted(lab_geometry_seeds["training_seed"].unique())]
    first = lab_geometry_seeds.iloc[0]
    gap = by_metric.loc["gap_by_bin"]
    number = fixed(3)
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("label", "", markup),
            *(
                Column(
                    side,
                    title,
                    fixed(3),
                    ci=(f"{side}_low", f"{side}_high") if side == "difference" else None,
                    uncertainty=None if side == "difference" else f"{side}_half",
                    reason="note",
                )
                for side, title in SIDES.items()
            ),
        ],
        groups="group",
        caption=(
            "Head geometry of the tiny pair, with rotary positions (RoPE) and after recalibration without them "
            f"(DroPE), and the paired difference DroPE minus RoPE. Unit: one training seed, $n = {len(seeds)}$ ("
            f"{'seed' if len(seeds) == 1 else 'seeds'} {listed(seeds)}); a seed's value is the mean "
            f"over all {first['heads']} heads of a model, over texts of {tokens(first['context'])} tokens of the "
            "kind that they were trained on."
        ),
        short="Head geometry of the tiny pair over training seeds",
        note=[
            "Means over seeds with 95 % intervals of Student's $t$; not corrected for the number of metrics; where all "
            "seeds have one value, the interval has no width. Two tiny models trained for this thesis: the intervals "
            "cover the seed of their training, not other models.",
            f"Plasticity: {estimator(first['estimator'], first['pairs'])}; {first['bins']} query bins; they "
            "differ from counting queries by "
            f"{number.show(gap['rope'], 'plain')} (RoPE) and {number.show(gap['drope'], 'plain')} (DroPE) on average. "
            "Drop: first minus last 20 % of positions. Bias per window: bias per token times the context; absolute: "
            "mean over heads without the sign, since heads of opposite sign cancel. Kinds of heads: correlations of "
            "the first principal component with position, within queries and within keys.",
        ],
    )
