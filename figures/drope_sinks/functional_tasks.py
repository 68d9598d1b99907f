"""Four tasks under interventions at the first token and on Q and K (Figure 16 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel, Rule

TASKS = {"cities": "cities", "sports": "sports", "passkey": "passkey", "imdb": "IMDB"}
CONDITIONS = {"baseline": "baseline", "bos_mlp_ablation": "first token", "qk_disruption": "Q and K", "combined": "both"}
MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(functional_shares: pd.DataFrame) -> Figure:
    """Plot one panel per task; an error bar is an interval or, with an unknown number of answers, a range of shares."""
    panels = []
    counts = functional_shares.drop_duplicates("task").set_index("task")["items"]
    for task, name in TASKS.items():
        rows = functional_shares[functional_shares["task"] == task].set_index(["positional", "condition"])
        is_counted = rows["low"].notna()
        rows["share"] = rows["share"].fillna(0)
        rows["low"] = rows["low"].where(is_counted, rows["right_low"])
        rows["high"] = rows["high"].where(is_counted, rows["share"])
        bars = [
            Bars(entity=entity, x=list(CONDITIONS.values()), y=cells["share"], low=cells["low"], high=cells["high"])
            for entity, model in MODELS.items()
            for cells in [rows.loc[[(model, condition) for condition in CONDITIONS]]]
        ]
        chance = float(rows["chance"].iloc[0])
        panels.append(
            Panel(
                title=f"{name}, {counts[task]} items",
                series=bars,
                y=Axis(label="accuracy, %", low=0, high=100),
                rules=[Rule(at=chance, label="chance")] if chance > 1 else [],
            )
        )
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=38,
        caption=(
            "Accuracy without the first token's MLP output (layer 1 of RoPE, layer 2 of DroPE), with Q and K "
            "disrupted, and both, Section 5.5 of the report [@africa2026]. Bars of cities and sports are of the "
            "answers that could be read. Error bars: 95 % Wilson intervals where the number of answers is known; else "
            "down to the share of all items, with as many answers left out as the stored share allows. Dashed: chance "
            "of two answers."
        ),
        short="Four tasks under interventions",
        note=(
            "Bars of IMDB far below chance are answers that are neither option, counted as wrong. In cities and sports "
            "such answers leave the denominator; where RoPE has no bar, none could be read. It gives answers that can "
            "be read again when the second disruption is added to the first."
        ),
    )
