"""Pair measurements of one network: with and without rotation, or with different first tokens."""

from typing import NamedTuple

import pandas as pd

from analysis.studies.pretrained._named import REPORTED, display_names
from analysis.studies.pretrained.beginning import STARTS
from analysis.studies.pretrained.distillation import ARMS
from analysis.studies.pretrained.distillation import ROLE as STUDENT
from analysis.studies.pretrained.one_position import KEY_HEAD

UNTOUCHED = "control"  # role of a model with removed rotation and without retraining
AGAIN = "own again"  # role of students of a second training
HEAD_KEY = [*KEY_HEAD, "head"]
NEAR = "-near"  # name ending of a teacher's measurement at its students' lengths


class ModelPair(NamedTuple):
    """Two measurements: the key of the pair, the contrast between them, and both names."""

    model: str
    contrast: str
    first: str
    second: str


def model_pairs(pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> list[ModelPair]:
    """Return pairs by model, with reported pairs last, whether or not both models were measured.

    `rotation removed` compares the model without rotation and without training to the original, `trained without` the
    student without rotation to the one trained further with it, and `token in front` texts with a beginning token to
    texts without. `reported pair` compares a document's models without and with rotation, if both were measured.
    """
    pairs = []
    for model in display_names(pretrained_models, subjects):
        members = subjects[subjects["pair"] == model]
        for untouched in members.loc[members["role"] == UNTOUCHED, "model"]:
            pairs.append(ModelPair(model, "rotation removed", str(untouched), model))
        arms = {ARMS[str(row["side"])]: str(row["model"]) for _, row in members[members["role"] == STUDENT].iterrows()}
        if set(arms) == set(ARMS.values()):
            pairs.append(ModelPair(model, "trained without", arms["nope"], arms["continued"]))
        pairs.append(ModelPair(model, "token in front", model + STARTS["token"], model + STARTS["word"]))
    for name, members in subjects[subjects["role"] == REPORTED].groupby("pair"):
        sides = dict(zip(members["side"], members["model"], strict=True))
        if name and set(sides) == set(ARMS):
            pairs.append(ModelPair(str(name), "reported pair", str(sides["drope"]), str(sides["rope"])))
    return pairs


def pair_names(pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> dict[str, str]:
    """Return printed names by the key of the pair; a reported pair is named after the model with rotation."""
    models = subjects[(subjects["role"] == REPORTED) & (subjects["side"] == "rope")]
    return display_names(pretrained_models, subjects) | dict(zip(models["pair"], models["label"], strict=True))


def students_of_pairs(subjects: pd.DataFrame, role: str = STUDENT) -> dict[str, dict[str, str]]:
    """Return the models of each pair of students by column: teacher (the pair's name), untouched, and both arms."""
    arms: dict[str, dict[str, str]] = {}
    for _, row in subjects[subjects["role"] == role].iterrows():
        arms.setdefault(str(row["pair"]), {})[ARMS[str(row["side"])]] = str(row["model"])
    for pair, models in arms.items():
        models["teacher"] = pair
        untouched = subjects[(subjects["role"] == UNTOUCHED) & (subjects["pair"] == pair)]
        if len(untouched):
            models["untouched"] = str(untouched["model"].iloc[0])
    return arms


def by_quarter(cells: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return a quantity by head and quarter of the context, shape (heads, quarters that have values)."""
    quarters = cells.pivot(index=HEAD_KEY, columns="low", values=quantity)
    return quarters.dropna(axis=1, how="all").dropna()
