"""Summarise Delta P on planted statements in the small models of this repository, each trained once."""

import pandas as pd

from analysis.subjects import subjects_of_role

GROUPS = ("question", "answer")


def anchoring_counts(anchoring_curves: pd.DataFrame) -> pd.DataFrame:
    """Return counts, extremes and means of Delta P in the small models, over the layers whose probe is above chance.

    Counts: `models`, `layers` (summed over models), `layers_above_chance`, `models_above_chance` (with at least one
    such layer), and `models_last` (above chance at the last layer). `question_least` is the Delta P nearest to zero
    of statements that need the question, `answer_most_flips` the largest share of flips among statements that do not,
    `control_most` and `filler_most` are the controls farthest from zero. At the last layer, as means over the models
    above chance there: `gap_SPLIT` between question and answer groups, `question_flips` (percent of the statements
    that need the question) and `needing`, the least possible percentage of answer-anchored samples that need the
    question.
    """
    models = list(subjects_of_role(anchoring_curves["model"].unique()))
    curves = anchoring_curves[anchoring_curves["model"].isin(models)]
    layers = curves[curves["split"] == "all"]
    probed = curves[curves["above_chance"].astype(bool)]
    by_group = {group: probed[(probed["split"] == "design") & (probed["group"] == group)] for group in GROUPS}
    controls = pd.concat(by_group.values())[["control", "filler"]].astype(float)
    values: dict[str, float] = {
        "models": curves["model"].nunique(),
        "layers": len(layers),
        "layers_above_chance": int(layers["above_chance"].sum()),
        "models_above_chance": layers.loc[layers["above_chance"].astype(bool), "model"].nunique(),
        "question_least": float(by_group["question"]["delta_p"].max()),
        "answer_most_flips": float(by_group["answer"]["question_share"].max()),
        **{f"{name}_most": float(control.iloc[int(control.abs().argmax())]) for name, control in controls.items()},
    }
    is_last = curves["layer"] == curves.groupby("model")["layer"].transform("max")
    final_layer = (
        curves[is_last & curves["above_chance"].astype(bool)].set_index(["split", "group", "model"]).sort_index()
    )
    values["models_last"] = final_layer.index.get_level_values("model").nunique()
    for split in ("layer", "reference", "half", "design"):
        means = final_layer["delta_p"]
        values[f"gap_{split}"] = float((means[split, "question"] - means[split, "answer"]).mean())
    values["question_flips"] = float(final_layer["question_share"]["design", "question"].mean())
    anchored = final_layer["samples"]["layer", "answer"]
    values["needing"] = float((100 * (anchored - final_layer["samples"]["design", "answer"]) / anchored).mean())
    return pd.DataFrame(list(values.items()), columns=["quantity", "value"])
