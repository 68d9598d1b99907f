"""Agreement of heads between two states of one network, by thirds of the layers."""

from typing import Any

import pandas as pd

from boundpaper.tables import Column, Table, fixed

CONTRASTS = {
    "rotation removed": "Rotation removed, nothing trained",
    "trained without": "Trained further without rotation against with it",
    "reported pair": "The report's pair, measured: without rotation against with it",
    "token in front": "Beginning token in front against a word",
}
THIRDS = 3


def table(pretrained_head_agreement: pd.DataFrame) -> Table:
    """Return, for each model and contrast, one row per third of the layers and one row for all layers."""
    rows: list[dict[str, Any]] = []
    for (model, contrast), cells in pretrained_head_agreement.groupby(["display_name", "contrast"], sort=False):
        group = f"{CONTRASTS[str(contrast)]} ({model})"
        layer_rows = cells[cells["layer"].notna()]
        thirds = layer_rows["layer"].astype(int) * THIRDS // len(layer_rows)
        for third in range(THIRDS):
            layers = layer_rows[thirds == third]
            label = f"Layers {layers['layer'].min()} to {layers['layer'].max()}"
            sums: dict[str, Any] = {"why": "Of all layers together."}
            sums |= {column: layers[column].sum() for column in ("heads", "same", "expected")}
            rows.append({"group": group, "label": label, "r": layers["r"].median(), **sums})
        total = cells[cells["layer"].isna()].iloc[0]
        rows.append({"group": group, "label": "All layers", **{str(name): total[name] for name in total.index}})
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("label", "", width=0.32),
            Column("heads", "Heads"),
            Column("same", "Same class"),
            Column("expected", "by chance", fixed(0)),
            Column("kappa", r"$\kappa$", fixed(2), ci=("low", "high"), reason="why"),
            Column("r", "$r$", fixed(2)),
        ],
        groups="group",
        size="footnotesize",
        caption=(
            "Heads that keep their class of attention (to the first token, to near ones, spread, mixed) in two states "
            "of one network. Unit: one head; in brackets the 95 % interval over resampled layers."
        ),
        short="Heads of one class in two states of a network",
        note=(
            "By chance: heads that would agree if the classes of a layer were shuffled among its heads. "
            "$\\kappa$: Cohen's, of the sums over layers. $r$: Pearson's coefficient of the heads' attention to the "
            "first token: for some layers the median over them, for all layers after each layer's mean is subtracted."
        ),
    )
