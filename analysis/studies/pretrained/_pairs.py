"""Pair measurements of one network: with and without rotation, and with another first token."""

from typing import NamedTuple

import pandas as pd

from analysis.studies.pretrained._named import REPORTED, display_names
from analysis.studies.pretrained.beginning import STARTS
from analysis.studies.pretrained.distillation import ARMS
from analysis.studies.pretrained.distillation import ROLE as STUDENT

UNTOUCHED = "control"  # role of the model whose rotation is removed and that is not trained
NEAR = "-near"  # ending of a teacher's measurement at the lengths that its students are asked


class ModelPair(NamedTuple):
    """Two measurements: the key of the pair, what tells them apart, and the names of both."""

    model: str
    contrast: str
    first: str
    second: str


def model_pairs(pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> list[ModelPair]:
    """Return pairs by model, reported ones last; a measurement may be missing.

    `rotation removed` is the untrained model without rotation against the model, `trained without` the student
    without rotation against the one that was trained on with it, and `token in front` the model reading its beginning
    token against reading a word. `reported pair` is a document's model without rotation against its model with it,
    where somebody has measured both.
    """
    couples = []
    for model in display_names(pretrained_models, subjects):
        mine = subjects[subjects["pair"] == model]
        for untouched in mine.loc[mine["role"] == UNTOUCHED, "model"]:
            couples.append(ModelPair(model, "rotation removed", str(untouched), model))
        arms = {ARMS[str(row["side"])]: str(row["model"]) for _, row in mine[mine["role"] == STUDENT].iterrows()}
        if set(arms) == set(ARMS.values()):
            couples.append(ModelPair(model, "trained without", arms["nope"], arms["continued"]))
        couples.append(ModelPair(model, "token in front", model + STARTS["token"], model + STARTS["word"]))
    for name, mine in subjects[subjects["role"] == REPORTED].groupby("pair"):
        sides = dict(zip(mine["side"], mine["model"], strict=True))
        if name and set(sides) == set(ARMS):
            couples.append(ModelPair(str(name), "reported pair", str(sides["drope"]), str(sides["rope"])))
    return couples


def pair_names(pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> dict[str, str]:
    """Return printed names by the key of the pair; a reported pair has the name of its model with rotation."""
    reported = subjects[(subjects["role"] == REPORTED) & (subjects["side"] == "rope")]
    return display_names(pretrained_models, subjects) | dict(zip(reported["pair"], reported["label"], strict=True))


def students_of_pairs(subjects: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the column and model of each pair of students: teacher (the pair's name), untouched, and both arms."""
    arms: dict[str, dict[str, str]] = {}
    for _, each in subjects[subjects["role"] == STUDENT].iterrows():
        arms.setdefault(str(each["pair"]), {})[ARMS[str(each["side"])]] = str(each["model"])
    for pair, models in arms.items():
        models["teacher"] = pair
        untouched = subjects[(subjects["role"] == UNTOUCHED) & (subjects["pair"] == pair)]
        if len(untouched):
            models["untouched"] = str(untouched["model"].iloc[0])
    return arms
