"""Experiments 1-9 of the DroPE report on pretrained models, beside the report's rotary model and the small models."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables.pretrained._cells import why_empty, with_interval

REFERENCES = ("reported", "small")
DIGITS = 2
"""Greatest number of decimals: with so few texts and seeds, a third decimal is not reliable."""
UNITS = {"percent": "%", "nats per token": "nats", "dimensions": "count"}


def table(pretrained_experiments: pd.DataFrame) -> Table:
    """Return one row per quantity measured on a pretrained model, with one column per model."""
    names = dict(zip(pretrained_experiments["column"], pretrained_experiments["name"], strict=True))
    rows = []
    for _, group in pretrained_experiments.groupby("quantity", sort=False):
        if group.loc[~group["column"].isin(REFERENCES), "value"].isna().all():
            continue  # measured on other models only
        facts = group.iloc[0]
        number = fixed(min(int(facts["digits"]), DIGITS))
        row = {
            "label": f"{facts['label']} ({UNITS.get(facts['unit'], facts['unit'])})",
            "experiment": facts["experiment"],
        }
        for index, column in enumerate(names):
            cell = group[group["column"] == column].iloc[0]
            row |= {f"v{index}": with_interval(cell, number), f"note{index}": why_empty(cell)}
        rows.append(row)
    frame = pd.DataFrame(rows)
    seeds = int(pretrained_experiments.loc[pretrained_experiments["column"] == "small", "n"].max())
    return Table(
        rows=frame,
        columns=[
            Column("label", "Quantity", width=0.42),
            *(
                Column(f"v{index}", name.replace("-Instruct", "\n-Instruct"), align="right", reason=f"note{index}")
                for index, name in enumerate(names.values())
            ),
        ],
        space="experiment",
        long=True,
        size="scriptsize",
        column_space=3,
        caption=(
            "Experiments 1 to 9 of the DroPE report [@africa2026] on pretrained models, beside its rotary Llama and "
            "the small rotary models of this thesis. In brackets 95 % intervals (Student): of the small models over "
            f"{seeds} seeds, of the pretrained ones over texts."
        ),
        short="Experiments 1 to 9 on pretrained models",
        note=(
            "A value without brackets is reported, or an extreme or mean over layers whose spread over texts is not "
            "kept. Texts, their lengths and the layers differ between columns: they show what is there and how large, "
            "and no test compares them."
        ),
    )
