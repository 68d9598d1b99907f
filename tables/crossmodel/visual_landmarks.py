"""Values that two documents read off pictures and give in no table: thresholds, head bundles, dimension clusters."""

import pandas as pd

from boundpaper.tables import Column, Table

KINDS = {
    "heat map": "Maps of plasticity over two distances",
    "head bundle": "Profiles of single heads",
    "mean profile": "Mean profiles",
    "component weights": "Weights of dimensions",
}
PREFIX = "narrative_"


def table(reported_landmarks: pd.DataFrame, models: pd.DataFrame) -> Table:
    """Return one row per landmark, grouped by kind of picture."""
    names = models.set_index("model")["display_name"]
    rows = reported_landmarks.assign(
        part=reported_landmarks["kind"].map(KINDS),
        order=reported_landmarks["kind"].map({kind: index for index, kind in enumerate(KINDS)}),
        whose=[
            names[model] if model else family or "all"
            for model, family in zip(reported_landmarks["model"], reported_landmarks["family"], strict=True)
        ],
        study=["narrative" if key.startswith(PREFIX) else "metrics" for key in reported_landmarks["landmark"]],
    )
    rows = rows.sort_values("order", kind="stable", ignore_index=True)
    narrative = int((rows["study"] == "narrative").sum())
    return Table(
        rows=rows,
        columns=[
            Column("whose", "Models", width=0.2),
            Column("quantity", "Read off", width=0.5),
            Column("printed", "As printed", width=0.17),
            Column("study", "Study"),
        ],
        groups="part",
        long=True,
        size="scriptsize",
        space=0,
        caption=(
            f"The {len(rows)} landmarks that two documents read off pictures [@shcherb2026]: {len(rows) - narrative} "
            f"in the metrics study, {narrative} in the narrative. No table gives the values behind them."
        ),
        short="Landmarks read off pictures",
        note=(
            "Distances and positions in tokens, dimensions as indices within a head. Thresholds by eye. The ledger "
            "judges what can be compared with tables or architectures; the rest is not testable without the captures."
        ),
    )
