"""Compute Delta P on planted statements about what pretrained models know, at the layer with the best truth probe."""

from typing import Any

import pandas as pd

from boundpaper.errors import DataError

ROLE = "pretrained"
RERUN = "python build.py run --recipe artifacts/recipes/pretrained-anchoring.yaml"


def anchoring_known(anchoring: pd.DataFrame, anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> pd.DataFrame:
    """Return one row per pretrained model, at the layer with the best truth probe.

    The layer has the largest AUROC over statements that need the question; Delta P plays no part in the choice.
    `question` and `answer` are Delta P there for statements that do and do not need the question, with 95 % bootstrap
    intervals over names; `_filler` is Delta P with as many preceding filler tokens cut, and `_flips` the percentage of
    statements whose predicted class changes. `known_share` is the percentage of names whose statement the model
    completes correctly. Raises DataError if no pretrained model was measured.
    """
    rows: list[dict[str, object]] = []
    shares = anchoring[anchoring["metric"] == "known_share"]
    labels = subjects[subjects["role"] == ROLE].set_index("model")["label"]
    design_curves = anchoring_curves[(anchoring_curves["data"] == "planted") & (anchoring_curves["split"] == "design")]
    for model in [model for model in labels.index if model in set(design_curves["model"])]:
        curves = design_curves[design_curves["model"] == model]
        groups: Any = {str(group): curve.set_index("layer") for group, curve in curves.groupby("group")}
        question, answer = groups["question"], groups["answer"]
        layer = int(question.index[int(question["auroc"].to_numpy(dtype=float).argmax())])
        known_shares = shares[shares["model"] == model]
        row: dict[str, object] = {"model": model, "display_name": labels[model], "layer": layer}
        row |= {"layers": len(question), "layers_seeing": int(question["above_chance"].sum())}
        row |= {name: float(question.loc[layer, name]) for name in ("auroc", "auroc_low", "auroc_high")}
        for name, values in (("question", question), ("answer", answer)):
            point = values.loc[layer]
            row |= {f"{name}{end}": float(point[f"delta_p{end}"]) for end in ("", "_low", "_high")}
            row |= {f"{name}_flips": float(point["question_share"]), f"{name}_filler": float(point["filler"])}
            row |= {f"{name}_n": int(point["n"])}
        rows.append(row | {"known_share": float(known_shares["value"].mean()), "names": int(known_shares["n"].max())})
    if not rows:
        raise DataError(f"anchoring_curves has no pretrained model; run: {RERUN}")
    return pd.DataFrame(rows)
