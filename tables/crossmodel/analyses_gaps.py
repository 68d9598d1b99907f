"""Gaps that plasticity is said to close, and how the rotation analysis reverses the roles of queries and keys."""

import pandas as pd

from boundpaper.tables import Column, Table

GAPS = "What rotation leaves open and plasticity is said to close"
REVERSAL = "What rotation corrects in the components"
PAIRS = (
    ("First component of the pool", "pca_r_q", "pca_r_k"),
    ("Drift axis of the rotation", "pca_rotation_r_q", "pca_rotation_r_k"),
)


def table(reported_gaps_closed: pd.DataFrame, stated_001: pd.DataFrame, claims: pd.DataFrame) -> Table:
    """Return the gaps, then the correlations of queries and keys with position."""
    gaps = reported_gaps_closed[["lacking", "closed_by"]].assign(part=GAPS)
    text = stated_001.set_index("statement")["printed"]
    reversal = pd.DataFrame(
        [
            {
                "lacking": axis,
                "closed_by": f"correlation with position: queries {text[queries]}, keys {text[keys]}",
                "part": REVERSAL,
            }
            for axis, queries, keys in PAIRS
        ]
    )
    ledger = claims.set_index("claim")
    means, order = ledger.loc["c001_drift_axis_means"], ledger.loc["c001_keys_stronger"]
    return Table(
        rows=pd.concat([gaps, reversal], ignore_index=True),
        columns=[Column("lacking", "Gap, or axis", width=0.4), Column("closed_by", "Answer, or value", width=0.58)],
        groups="part",
        caption=(
            f"The {len(gaps)} gaps between rotation and context length that plasticity is said to close, and the "
            "reversal of queries and keys on going from components to rotation, as the study states them "
            "[@shcherb2026]."
        ),
        short="Gaps that plasticity closes, and the reversal of queries and keys",
        note=(
            "The models behind the four correlations are not named. Keys follow position more closely than queries in "
            f"{order['recomputed']} models with printed values ({order['verdict']}); their mean correlations on the "
            f"drift axis, keys and queries, are {means['recomputed']} (the stated values are {means['verdict']})."
        ),
    )
