"""Join the population's models, by arm and seed, with their behaviour, as one table of outcomes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from boundpaper.errors import DataError

FAR = 1.25  # far keys are more than this many training lengths before the question
TRAINED = 128  # words per training sequence
EXACT = "e"  # letter of a right answer
METRICS = (
    "ap_overall",
    "ap_first_20",
    "ap_last_20",
    "ap_drop",
    "bias_strength",
    "bias_window",
    "sink",
    "sink_backcopy",
)
QUESTION_COLUMNS = ("model", "encoding", "multiple", "item", "context", "keys", "distance", "letter", "right", "far")
OUTCOME_COLUMNS = ("model", "outcome", "encoding", "multiple", "value", "n")
ABSOLUTE_METRICS = ("bias_strength", "bias_window")  # metrics whose absolute value is used


def records(table: pd.DataFrame) -> Iterator[Any]:
    """Iterate over the rows of a table, with cells as attributes."""
    yield from table.itertuples(index=False)


def key_questions(keys: pd.DataFrame, prompts: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return one row per question for a key, with the columns `QUESTION_COLUMNS`.

    Raises
    ------
    DataError
        If a model has more letters than its seed has prompts.
    """
    if keys.empty:
        return pd.DataFrame(columns=list(QUESTION_COLUMNS))
    seeds = dict(zip(models["model"], models["seed"], strict=True))
    prompts_of = {name: group.sort_values("item") for name, group in prompts.groupby(["seed", "multiple"])}
    columns = ("item", "context", "keys", "distance")
    arrays_of = {name: [group[column].to_numpy(dtype=int) for column in columns] for name, group in prompts_of.items()}
    sizes, blocks, letters = [], [], []
    for row in records(keys):
        arrays = arrays_of[seeds[row.model], row.multiple]
        count = len(row.letters)
        if count > len(arrays[0]):
            raise DataError(f"{row.model}, {row.encoding} at {row.multiple:g}x: more answers than prompts of its seed")
        sizes.append(count)
        blocks.append([values[:count] for values in arrays])
        letters += list(row.letters)
    table = pd.DataFrame({name: np.repeat(keys[name].to_numpy(), sizes) for name in ("model", "encoding", "multiple")})
    for index, column in enumerate(columns):
        table[column] = np.concatenate([arrays[index] for arrays in blocks])
    table["letter"] = letters
    table["right"] = table["letter"] == EXACT
    table["far"] = table["distance"] > FAR * TRAINED
    return table


def outcomes(
    models: pd.DataFrame, asked: pd.DataFrame, tasks: pd.DataFrame, losses: pd.DataFrame, heads: pd.DataFrame
) -> pd.DataFrame:
    """Return one row per model, outcome, encoding and multiple: `value`, and the `n` units that it averages.

    `keys_all` and `keys_far` are shares of right answers. Fewer questions are asked under an extension;
    `keys_far_extended` is `keys_far` over only these questions, for every encoding. `decline` is 1 minus the ratio of
    `keys_all` at four training lengths to that at one. Metrics of heads are means, but `bias_*` are means of absolute
    values, and `sink_backcopy_most` and `value_ratio_least` are extremes.
    """
    rows: list[tuple[object, ...]] = []

    def add(model: Any, outcome: str, encoding: Any, multiple: Any, value: float, n: int) -> None:
        rows.append((model, outcome, encoding, multiple, value, n))

    last_item = asked[asked["encoding"] != "own"].groupby("multiple")["item"].max()
    far_keys = asked[asked["far"].astype(bool)]
    common_keys = far_keys[far_keys["item"] <= far_keys["multiple"].map(last_item).fillna(-1)]
    for outcome, keys in (("keys_all", asked), ("keys_far", far_keys), ("keys_far_extended", common_keys)):
        shares = keys.groupby(["model", "encoding", "multiple"])["right"].agg(["mean", "size"])
        for (model, encoding, multiple), share, size in shares.itertuples():
            add(model, outcome, encoding, multiple, share, size)
    own_keys = asked[(asked["encoding"] == "own") & asked["multiple"].isin([1.0, 4.0])].astype({"right": float})
    own_shares = own_keys.pivot_table(index="model", columns="multiple", values="right", aggfunc="mean")
    counts = own_keys["model"].value_counts().to_dict()
    for model, row in own_shares.iterrows():
        if row[1.0] > 0:
            add(model, "decline", "own", 4.0, 1 - row[4.0] / row[1.0], int(counts[model]))
    facts = tasks[(tasks["multiple"] == 0) & tasks["task"].isin(["fact", "fact_held"])]
    for row in records(facts):
        name = "facts_held" if row.task == "fact_held" else "facts_seen"
        add(row.model, name, "own", 0.0, row.right / row.asked, int(row.asked))
    text_losses = losses[(losses["text"] == "mixed") & (losses["words"] == "other") & (losses["low"] == 0)]
    for row in records(text_losses):
        add(row.model, "text_loss", "own", 1.0, row.nats, int(row.count))
    by_model = heads.assign(**{name: heads[name].abs() for name in ABSOLUTE_METRICS}).groupby("model")
    for name in METRICS:
        for model, mean, count in by_model[name].agg(["mean", "count"]).itertuples():
            if count:
                add(model, name, "own", 1.0, mean, count)
    extremes = by_model.agg(
        most=("sink_backcopy", "max"), least=("value_ratio", "min"), heads=("sink_backcopy", "size")
    )
    for model, most, least, size in extremes.itertuples():
        add(model, "sink_backcopy_most", "own", 1.0, most, size)
        add(model, "value_ratio_least", "own", 1.0, least, size)
    table = pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS)).merge(
        models[["model", "arm", "base", "seed", "reached"]], on="model"
    )
    table["counted"] = table["model"].map(counted_by_plan(models)).astype(bool)
    return table.sort_values(["outcome", "encoding", "multiple", "model"], ignore_index=True)


def counted_by_plan(models: pd.DataFrame) -> dict[str, bool]:
    """Return whether each model counts: it and its starting model must meet the criterion, from which D is exempt."""
    reached = {row.model: bool(row.reached) or row.arm == "D" for row in records(models)}
    return {
        row.model: reached[row.model] and (row.start == "none" or reached.get(row.start, False))
        for row in records(models)
    }


def by_seed(table: pd.DataFrame, outcome: str, arm: str, base: int, multiple: float) -> pd.Series:
    """Return an outcome's values by seed, for counted models; `arm` may name an extension, as in `B:yarn`."""
    own_arm, _, encoding = arm.partition(":")
    rows = table[
        table["counted"]
        & (table["outcome"] == outcome)
        & (table["arm"] == own_arm)
        & (table["encoding"] == (encoding or "own"))
        & (table["base"] == (0 if own_arm == "E" else base))
        & np.isclose(table["multiple"].astype(float), multiple)
    ]
    return rows.set_index("seed")["value"].sort_index()
