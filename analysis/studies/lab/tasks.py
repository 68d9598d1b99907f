"""What the tiny pair learned: its models, its curves, its tasks within the training length and beyond it."""

from __future__ import annotations

import pandas as pd

from analysis.statistics import frame, mcnemar
from analysis.studies._families import corrected
from analysis.studies.lab._pair import of_pair, over_seeds
from artifacts.errors import DataError

TARGET = 0.95  # of every task within the training length
FACTS = ("parameters", "layers", "heads", "width", "training_length", "steps", "tokens")
LOSSES = ("loss", "answer_loss")
LENGTH = r"^(?P<task>.*?)(?:_(?P<length>[0-9.]+x))?$"


def lab_pair_models(lab_training: pd.DataFrame) -> pd.DataFrame:
    """The models of the tiny pair, one row each: shape, steps and tokens of its own phase, and its last losses.

    Losses are in nats, over all tokens (weighted as in training) and over answers. A DroPE model begins with the
    weights of the RoPE model of its seed, so its steps and tokens come on top of that one's.
    """
    rows = []
    for (side, seed, model), part in of_pair(lab_training).groupby(["side", "training_seed", "model"], sort=True):
        facts = part[part["phase"] == "recipe"].set_index("metric")["value"]
        lacking = [name for name in FACTS if name not in facts.index]
        if lacking:
            raise DataError(f"artifacts/measurements/lab_training/{model}.csv: no {lacking[0]}; train the pair again")
        curve = part[part["metric"].isin(LOSSES) & part["phase"].isin(["pretraining", "recalibration"])]
        last = curve[curve["step"] == curve["step"].max()].set_index("metric")["value"]
        rows.append(
            {
                "model": model,
                "side": side,
                "training_seed": seed,
                **{name: int(facts[name]) for name in FACTS},
                **{name: float(last[name]) for name in LOSSES},
            }
        )
    return pd.DataFrame(rows).sort_values(["side", "training_seed"], ascending=[False, True], ignore_index=True)


def lab_task_scores(lab_training: pd.DataFrame) -> pd.DataFrame:
    """Shares answered exactly at the end of training, by task and length, over training seeds.

    `length` is in multiples of the training length and empty for prompts without filler. `n` is items a seed.
    `reached` says whether every seed of both models is at the target of 95 % within the training length; empty beyond.
    """
    final = of_pair(lab_training).query("phase == 'final'")
    scores = over_seeds(final, ["metric"])
    parts = scores["metric"].str.extract(LENGTH).fillna("")
    scores.insert(1, "task", parts["task"])
    scores.insert(2, "length", parts["length"])
    scores["n"] = [int(final.loc[final["metric"] == metric, "n"].min()) for metric in scores["metric"]]
    within = scores["length"].isin(["", "0.5x", "1x"])
    least = scores[["rope_least", "drope_least"]].min(axis=1)
    scores["reached"] = [
        "" if not inside else "yes" if low >= TARGET else "no" for inside, low in zip(within, least, strict=True)
    ]
    scores["target"] = TARGET
    return scores


def lab_curves(lab_training: pd.DataFrame) -> pd.DataFrame:
    """Losses and accuracies along the training: mean, least and most over training seeds, by phase and step."""
    rows = of_pair(lab_training)
    rows = rows[rows["phase"].isin(["pretraining", "recalibration"])]
    return (
        rows.groupby(["phase", "metric", "step"], sort=True)["value"]
        .agg(value="mean", least="min", most="max", seeds="count")
        .reset_index()
    )


def lab_context_scores(context_length: pd.DataFrame) -> pd.DataFrame:
    """Keys retrieved exactly by length and encoding: mean, least and most over training seeds.

    `encoding` is `rope` and `drope` for a model's own, `pi` and `yarn` for the RoPE model with its frequencies
    interpolated to the prompt's length; `ratio` is the length over the training length. `n` is prompts a seed.
    """
    rows = of_pair(context_length)
    rows = rows[rows["metric"].eq("passkey_exact") & rows["condition"].str.fullmatch(r"[a-z]+/[0-9.]+x")]
    lost = rows[rows["value"].isna()]
    if len(lost):
        raise DataError(f"context_length of {lost.iloc[0]['model']}: {lost.iloc[0]['reason']}")
    parts = rows["condition"].str.extract(r"(?P<name>[a-z]+)/(?P<ratio>[0-9.]+)x")
    rows = rows.assign(
        encoding=parts["name"].where(parts["name"] != "own", rows["side"]), ratio=parts["ratio"].astype(float)
    )
    return (
        rows.groupby(["encoding", "ratio"], sort=True)
        .agg(
            value=("value", "mean"),
            least=("value", "min"),
            most=("value", "max"),
            seeds=("value", "count"),
            n=("n", "min"),
        )
        .reset_index()
    )


def lab_context_differences(context_length: pd.DataFrame) -> pd.DataFrame:
    """DroPE minus RoPE in keys retrieved exactly, paired over training seeds, by length; both under their own encoding.

    `wins` counts the seeds in which DroPE retrieves more.
    """
    rows = of_pair(context_length)
    rows = rows[rows["metric"].eq("passkey_exact") & rows["condition"].str.fullmatch(r"own/[0-9.]+x")]
    found = over_seeds(rows, ["condition"])
    found["ratio"] = found["condition"].str.extract(r"/([0-9.]+)x")[0].astype(float)
    table = rows.pivot(index=["condition", "training_seed"], columns="side", values="value").reset_index()
    wins = (table["drope"] > table["rope"]).groupby(table["condition"]).sum()
    found["wins"] = [int(wins[condition]) for condition in found["condition"]]
    return found.sort_values("ratio", ignore_index=True)


def lab_prompt_tests(context_length: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Prompt by prompt: McNemar's test of DroPE against RoPE on the same keys, by length and training seed.

    Holm over all rows. The unit is a prompt; the test speaks of one pair of models, not of training runs.
    """
    rows = of_pair(context_length)
    rows = rows[rows["metric"].eq("passkey_right") & rows["condition"].str.fullmatch(r"own/[0-9.]+x")]
    tests = []
    for (condition, seed), part in rows.groupby(["condition", "training_seed"], sort=True):
        table = part.pivot(index=["unit_id", "seed"], columns="side", values="value").dropna()
        tests.append(
            mcnemar(
                table["drope"].astype(bool).to_numpy(),
                table["rope"].astype(bool).to_numpy(),
                study="lab_prompt_tests",
                comparison=f"{str(condition).removeprefix('own/')}, seed {seed}, drope - rope",
                unit="prompt",
            )
        )
    return frame(corrected(tests, test_families, "lab_prompt_tests"))
