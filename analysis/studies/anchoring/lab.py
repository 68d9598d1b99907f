"""Delta P of the tiny pair with training seeds as units: what holds of one training may not hold of the next."""

from __future__ import annotations

from functools import partial

import pandas as pd

from analysis.statistics import Estimate, frame, paired_t
from analysis.statistics.student import student_interval
from analysis.studies._families import corrected
from artifacts.store.subjects import pair

VALUES = ("delta_p", "control", "filler", "question_share")
GROUPS = ("question", "answer")


def lab_anchoring(anchoring_curves: pd.DataFrame) -> pd.DataFrame:
    """Mean over training seeds, with a 95 % t interval where there are several, by position encoding, group and layer.

    Splits are `design` (needs the question, or the answer alone tells) and `layer` (flips). `question_share` is that of
    the design only. `seeds_above_chance` counts the seeds whose probe tells right from wrong in the layer.
    """
    found = []
    seeds = _seeds(anchoring_curves)
    rows = seeds[seeds["split"].isin(["design", "layer"])]
    for keys, part in rows.groupby(["positional", "split", "group", "layer"]):
        names = dict(zip(("positional", "split", "group", "layer"), keys, strict=True))
        row: dict[str, object] = {**names, "seeds": len(part)}
        row["seeds_above_chance"] = int(part["above_chance"].sum())
        row |= _mean("auroc", part["auroc"])
        for name in VALUES:
            row |= _mean(name, part[name])
        lacking = [name for name in ("auroc", *VALUES) if row[f"{name}_low"] is None]
        why = "one seed has a value" if part["delta_p"].notna().any() else "no sample in this group"
        row["reason"] = "; ".join(
            f"{name}: {'the group is made by it' if name == 'question_share' and names['split'] == 'layer' else why}"
            for name in lacking
        )
        found.append(row)
    return pd.DataFrame(found)


def lab_anchoring_tests(anchoring_curves: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Difference of DroPE and RoPE in Delta P, paired by training seed, by design group and layer; Holm over all."""
    seeds = _seeds(anchoring_curves)
    designed = seeds[seeds["split"] == "design"]
    found: list[Estimate] = []
    for group in GROUPS:
        rows = designed[designed["group"] == group]
        wide = rows.pivot(index=["layer", "training_seed"], columns="positional", values="delta_p").dropna()
        test = partial(paired_t, study=f"lab_anchoring_tests/{group}", unit="training seed")
        if not {"rope", "drope"} <= set(wide.columns):
            found.append(test([], [], comparison="all layers", note="one of the pair is not measured"))
            continue
        found += [
            test(part["drope"], part["rope"], comparison=f"layer {layer}", names=("drope", "rope"))
            for layer, part in wide.groupby(level="layer")
        ]
    return frame(corrected(found, test_families, "lab_anchoring_tests"))


def _seeds(curves: pd.DataFrame) -> pd.DataFrame:
    found = pair(curves["model"].unique())
    kept = curves[curves["model"].isin(list(found))]
    return kept.assign(training_seed=[int(found[name].seed or 0) for name in kept["model"]])


def _mean(name: str, values: pd.Series) -> dict[str, float | None]:
    known = values.dropna().astype(float)
    n = len(known)
    if not n:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = student_interval(known.to_numpy()) or (None, None)
    return {name: float(known.mean()), f"{name}_low": low, f"{name}_high": high}


def anchoring_counts(anchoring_curves: pd.DataFrame) -> pd.DataFrame:
    """Figures of the tiny models that the prose needs, over their layers whose probe is above chance.

    `models`, `layers` (of a model, summed) and `layers_above_chance`; `question_least` is the Delta P nearest to zero
    of statements that need the question, `answer_most_flips` the largest share of flips among those whose answer tells,
    `control_most` and `filler_most` are the controls farthest from zero. At the last layer, as means over models:
    `gap_SPLIT` between question and answer groups, `question_flips` (percent of the statements that need the question)
    and `needing`, the least percentage of answer-anchored samples that need the question, since all others in the group
    must be among those whose answer tells.
    """
    tiny = _seeds(anchoring_curves)
    layers = tiny[tiny["split"] == "all"]
    seen = tiny[tiny["above_chance"].astype(bool)]
    designed = {group: seen[(seen["split"] == "design") & (seen["group"] == group)] for group in GROUPS}
    controls = pd.concat(designed.values())[["control", "filler"]].astype(float)
    values: dict[str, float] = {
        "models": tiny["model"].nunique(),
        "layers": len(layers),
        "layers_above_chance": int(layers["above_chance"].sum()),
        "question_least": float(designed["question"]["delta_p"].max()),
        "answer_most_flips": float(designed["answer"]["question_share"].max()),
        **{f"{name}_most": float(each.iloc[int(each.abs().argmax())]) for name, each in controls.items()},
    }
    last = (
        tiny[tiny["layer"] == tiny.groupby("model")["layer"].transform("max")]
        .set_index(["split", "group", "model"])
        .sort_index()
    )
    for split in ("layer", "reference", "half", "design"):
        means = last["delta_p"]
        values[f"gap_{split}"] = float((means[split, "question"] - means[split, "answer"]).mean())
    values["question_flips"] = float(last["question_share"]["design", "question"].mean())
    anchored = last["samples"]["layer", "answer"]
    values["needing"] = float((100 * (anchored - last["samples"]["design", "answer"]) / anchored).mean())
    return pd.DataFrame(list(values.items()), columns=["quantity", "value"])
