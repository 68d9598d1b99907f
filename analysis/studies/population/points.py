"""Tabulate each model's outcomes in the population, for figures and tables that show every seed."""

import numpy as np
import pandas as pd

from analysis.studies.population._outcomes import FAR, TRAINED, counted_by_plan, key_questions, outcomes, records

EDGES = (0, 32, 64, 96, 128, round(FAR * TRAINED), 192, 256, 384, 512, 768, 1025)  # bounds of distances


def population_outcomes(
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return one row per model, outcome, encoding and multiple of the training length: `value`, over `n` units."""
    questions = key_questions(population_keys, population_prompts, population_models)
    table = outcomes(population_models, questions, population_tasks, population_losses, population_heads)
    columns = ["model", "arm", "base", "seed", "counted", "outcome", "encoding", "multiple", "value", "n"]
    return table[columns]


def population_distances(
    population_models: pd.DataFrame, population_keys: pd.DataFrame, population_prompts: pd.DataFrame
) -> pd.DataFrame:
    """Return how many keys each model finds with its own encoding, by prompt length and distance to the question.

    `low` (included) and `high` (excluded) are in words; `right` is out of `n` questions in prompts of `multiple`
    training lengths.
    """
    questions = key_questions(population_keys, population_prompts, population_models)
    own_questions = questions[
        (questions["encoding"] == "own") & questions["distance"].between(EDGES[0], EDGES[-1], inclusive="left")
    ]
    bins = np.searchsorted(EDGES, own_questions["distance"], side="right") - 1
    by_bin = own_questions.assign(bin=bins).astype({"right": int}).groupby(["model", "multiple", "bin"])["right"]
    shares = by_bin.agg(["sum", "size", "mean"]).reset_index()
    counts = counted_by_plan(population_models)
    rows = []
    for member in records(population_models):
        row = {"model": member.model, "arm": member.arm, "base": member.base, "seed": member.seed}
        row["counted"] = counts[member.model]
        for cell in records(shares[shares["model"] == member.model]):
            cell_columns = {"multiple": cell.multiple, "low": EDGES[cell.bin], "high": EDGES[cell.bin + 1]}
            rows.append({**row, **cell_columns, "right": int(cell.sum), "n": int(cell.size), "share": float(cell.mean)})
    columns = ["model", "arm", "base", "seed", "counted", "multiple", "low", "high", "right", "n", "share"]
    return pd.DataFrame(rows, columns=columns)


def population_ablations(
    population_models: pd.DataFrame, population_heads: pd.DataFrame, population_ablation: pd.DataFrame
) -> pd.DataFrame:
    """Return one row per head: plasticity, bias, and the cost of its removal for keys and text."""
    intact = population_ablation[population_ablation["layer"] < 0].set_index("model")
    ablated = population_ablation[population_ablation["layer"] >= 0]
    columns = ["ap_overall", "ap_last_20", "bias_strength", "sink_backcopy"]
    table = ablated.merge(population_heads[["model", "layer", "head", *columns]], on=["model", "layer", "head"])
    table = table.merge(population_models[["model", "arm", "base", "seed"]], on="model")
    for size in ("1x", "4x"):
        share = table[f"right_{size}"] / table[f"asked_{size}"]
        baseline = intact[f"right_{size}"] / intact[f"asked_{size}"]
        table[f"lost_{size}"] = table["model"].map(baseline) - share
        table[f"nats_{size}"] = table[f"nats_{size}"] - table["model"].map(intact[f"nats_{size}"])
    table["text_nats"] = table["text_nats"] - table["model"].map(intact["text_nats"])
    table["counted"] = table["model"].map(counted_by_plan(population_models)).astype(bool)
    columns_kept = ["model", "arm", "base", "seed", "counted", "layer", "head", *columns]
    return table[[*columns_kept, "lost_1x", "nats_1x", "lost_4x", "nats_4x", "text_nats"]]
