"""Llama-3.1-8B beside Llama-3.2-3B, with the scores that the study's comparison omits."""

import pandas as pd

from boundpaper.store.frames import wide
from boundpaper.store.paper_vocabulary import words
from boundpaper.tables import Column, Table, fixed, percent


def table(
    reported_llama_generations: pd.DataFrame, captured_models: pd.DataFrame, length_decline: pd.DataFrame
) -> Table:
    """Return one row per model."""
    facts = captured_models[["model", "display_name", "lbp"]].rename(columns={"lbp": "published"})
    rows = wide(reported_llama_generations, by=["model"]).merge(facts, on="model")
    rows = rows.assign(
        token=1e4 * rows["bias_strength"],
        added=["added" if lacks else "" for lacks in rows["lbp"].isna() & rows["published"].notna()],
    )
    for mode in words("mode"):
        declines = length_decline[length_decline["mode"] == mode][["model", "decline"]]
        rows = rows.merge(declines.rename(columns={"decline": mode}), on="model")
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("ap_overall", "overall", fixed(3), group="Plasticity"),
            Column("ap_drop", "drop", fixed(3), group="Plasticity"),
            Column("ap_last_20", "last\n20 %", fixed(3), group="Plasticity"),
            Column("token", "Bias per token\n($10^{-4}$)", fixed(2)),
            Column("ruler_128k", "RULER\n128K", fixed(1), missing="no published score"),
            Column("published", "overall", fixed(2), mark="added", group="LongBench Pro"),
            *(
                Column(mode, f"decline\n{label}", percent(1, share=True), group="LongBench Pro")
                for mode, label in words("mode").items()
            ),
        ],
        marks={"added": "Published by the benchmark; the study's comparison leaves it empty"},
        caption=(
            f"{rows['display_name'].iloc[0]} beside {rows['display_name'].iloc[1]}: the study's comparison of "
            "generations [@shcherb2026] with the published scores that it lacks [@longbenchpro2026]. Unit: one "
            "model, base checkpoints captured and instruction-tuned ones scored."
        ),
        short="Two generations of Llama",
        note="Decline: $1 - s_{128K} / s_{8K}$ of the score by input length.",
    )
