"""List the ablations that sections of document 004 cite, and the related ablations that they omit."""

from typing import Any

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.errors import DataError

GROUPS = {
    "layer 1": ("layer1_mlp", "layer1_attn", "layer1_both", "layer1_bos_only"),
    "the first token": ("bos_mlp_spike_layer", "bos_value_all_layers", "bos_value_spike_layer"),
}
CLEAR_CONTRAST = 2.0  # an ablation whose contrast is closer to 1 hurts neither model clearly more


def ablation_sides(
    ablation_citations: pd.DataFrame, layer1_effects: pd.DataFrame, bos_ablation_contrasts: pd.DataFrame
) -> pd.DataFrame:
    """Return by section and ablation: the effect on RoPE divided by the effect on DroPE, and whether it is cited.

    `side` is the model that the ablation hurts more, by `CLEAR_CONTRAST` at least; an ablation counts as cited if the
    section prints its effect on both models. Sections that do not contrast the models in a group are omitted. Raises
    DataError if a section cites an ablation that belongs to no group.
    """
    ratios = layer1_effects.pivot(index="condition", columns="positional", values="ratio")
    contrasts = {str(name): float(value) for name, value in (ratios[PAIR[0]] / ratios[PAIR[1]]).items()}
    for _, row in bos_ablation_contrasts.iterrows():
        contrasts[str(row["ablation"])] = float(row["ratio"])
    unknown_ablations = set(ablation_citations["ablation"]) - {
        ablation for group in GROUPS.values() for ablation in group
    }
    if unknown_ablations:
        raise DataError(
            f"ablation_citations has {', '.join(sorted(unknown_ablations))}, which no group has; extend GROUPS"
        )
    rows: list[dict[str, Any]] = []
    for source, cells in ablation_citations.groupby("source", sort=False):
        for group, names in GROUPS.items():
            models_by_ablation = {name: set(cells.loc[cells["ablation"] == name, "positional"]) for name in names}
            cited = {name for name, models in models_by_ablation.items() if models == set(PAIR)}
            for name in names if cited else ():
                labels = {"section": str(source).partition(" ")[2], "group": group, "ablation": name}
                contrast = contrasts[name]
                rows.append(labels | {"contrast": contrast, "side": _hurt_more(contrast), "cited": name in cited})
    return pd.DataFrame(rows)


def _hurt_more(contrast: float) -> str:
    if 1 / CLEAR_CONTRAST < contrast < CLEAR_CONTRAST:
        return "neither"
    return PAIR[0] if contrast > 1 else PAIR[1]
