"""LongBench Pro beside rotation and plasticity: the models that the study compares, and the one it left out."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import listed
from tables._house import model_footnotes, model_marks, rounded_bias


def table(matched_models: pd.DataFrame) -> Table:
    """Return one row per matched model, those that the study compares first."""
    is_compared = matched_models["in_source"].astype(bool)
    rows = matched_models.assign(added=~is_compared).sort_values(["added", "lbp"], ascending=[True, False])
    longest = rows["captured_context"].max()
    first_added = rows["added"] & ~rows["added"].shift(fill_value=False)
    rows = rows.assign(rule=first_added, mark=model_marks(rows, longest), bias_token=1e4 * rows["bias_strength"])
    added_names = listed(list(rows.loc[rows["added"], "display_name"]))
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("lbp", "LBP", fixed(2)),
            Column("bias_token", "Bias\nper token\n($10^{-4}$)", fixed(2)),
            Column("r_k_a", "$|r_k^a|$", fixed(3), group="Rotation"),
            Column("r_q_a", "$|r_q^a|$", fixed(3), group="Rotation"),
            Column("plane_var", "variance\nin plane", fixed(3), group="Rotation"),
            Column("ap_overall", "overall", fixed(4), group="Plasticity"),
            Column("ap_first_20", "first 20 %", fixed(4), group="Plasticity"),
            Column("ap_last_20", "last 20 %", fixed(4), group="Plasticity"),
            Column("ap_drop", "drop", fixed(3), group="Plasticity"),
        ],
        rule_before="rule",
        marks=model_footnotes(rows, longest),
        caption=(
            f"LongBench Pro (LBP) beside rotation and plasticity metrics of the {int(is_compared.sum())} models that "
            f"the study compares, its Tables 1 and 9 [@shcherb2026]. Below the rule {added_names}, captured by the "
            "study and scored by the benchmark but absent from that comparison. Unit: one model; metrics are means "
            "over heads."
        ),
        short="LongBench Pro beside rotation and plasticity metrics",
        note=(
            "LBP: overall score without thinking [@longbenchpro2026]. Drop: first minus last 20 % of positions, as "
            "printed. " + rounded_bias(rows)
        ),
    )
