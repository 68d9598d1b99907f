"""Compare a rotary model's two students at equal tokens: one is distilled without rotation, the control with it.

Students are the subjects with the role `own`; the column `side` names the arm.
"""

import pandas as pd

from boundpaper.errors import DataError

ROLE = "own"
ARMS = {"drope": "nope", "rope": "continued"}
ALL = "all"  # the mean over the sets of texts, each with the same weight
HELD_OUT = ("kl", "loss", "teacher_loss")


def distillation_curves(distillation: pd.DataFrame, subjects: pd.DataFrame) -> pd.DataFrame:
    """Return held-out loss and divergence from the teacher during training, at the steps that both arms have.

    Raises DataError if no pair is measured, or the arms of a pair have different teachers.
    """
    students = subjects.loc[subjects["role"] == ROLE, ["model", "pair", "side"]]
    rows = distillation[distillation["metric"].isin(HELD_OUT)].merge(students, on="model")
    if rows.empty:
        raise DataError(
            "distillation has no student with the role own in subjects.csv; train both arms: python build.py lab distil"
        )
    rows["arm"] = rows["side"].map(ARMS)
    table = rows.pivot(index=["pair", "seed", "arm", "of", "step", "tokens", "text"], columns="metric", values="value")
    counts = rows[rows["metric"] == "kl"].set_index(list(table.index.names))["n"]
    losses = table.assign(n=counts).reset_index()
    grouped = losses.groupby(["pair", "seed", "arm", "of", "step", "tokens"], as_index=False)
    means = grouped.agg(kl=("kl", "mean"), loss=("loss", "mean"), teacher_loss=("teacher_loss", "mean"), n=("n", "sum"))
    losses = pd.concat([losses, means.assign(text=ALL)], ignore_index=True)
    keys = ["pair", "seed", "step", "text"]
    losses = losses[losses.groupby(keys)["arm"].transform("nunique") == len(ARMS)]
    if losses.empty:
        raise DataError("distillation: the arms of a pair have no common step; train both to the same step")
    for column in ("teacher_loss", "tokens", "of"):
        spread = losses.groupby(keys)[column].agg(lambda values: values.max() - values.min())
        if (spread > 1e-6).any():
            raise DataError(f"distillation: arms of a pair differ in {column}; measure two arms of one training")
    return losses.sort_values(["pair", "seed", "text", "arm", "step"], ignore_index=True)[
        ["pair", "seed", "arm", "text", "step", "of", "tokens", "loss", "kl", "teacher_loss", "n"]
    ]


def distillation_outcomes(distillation_curves: pd.DataFrame) -> pd.DataFrame:
    """Return losses of both arms at equal tokens, of the teacher, and of the untrained model without rotation.

    The recovered share is 1 at the teacher's loss and 0 at the untrained model's. With one training run, there is no
    interval.
    """
    rows = []
    for (pair, seed, text), group in distillation_curves.groupby(["pair", "seed", "text"], sort=True):
        arms = {arm: curve.set_index("step").sort_index() for arm, curve in group.groupby("arm")}
        nope, control = arms["nope"], arms["continued"]
        if nope.index[0] != 0:
            raise DataError("distillation: the curve lacks step 0, the untrained model; train the arm again")
        first, last, control_end = nope.iloc[0], nope.iloc[-1], control.iloc[-1]
        damage = first["loss"] - first["teacher_loss"]
        rows.append(
            {
                **{"pair": pair, "seed": seed, "text": text, "step": int(nope.index[-1]), "of": int(last["of"])},
                **{"tokens": int(last["tokens"]), "n": int(last["n"]), "teacher": first["teacher_loss"]},
                **{"untouched": first["loss"], "nope": last["loss"], "continued": control_end["loss"]},
                **{"untouched_kl": first["kl"], "nope_kl": last["kl"], "continued_kl": control_end["kl"]},
                "difference": last["loss"] - control_end["loss"],
                "recovered": (first["loss"] - last["loss"]) / damage if damage > 0 else None,
                "note": "" if damage > 0 else "recovered: removing the rotation cost nothing here",
            }
        )
    return pd.DataFrame(rows)
