"""Tabulate answers of pretrained models: passkeys by prompt length, and knowledge in weights and in the prompt."""

from typing import Any

import pandas as pd

from analysis.studies.pretrained._named import display_names, table_of_rows
from boundpaper.statistics.proportion import wilson_interval

OWN_ENCODING = r"own/(?P<ratio>[0-9.]+)x"  # condition: the model's own encoding, all prompt forms and depths
TASKS = {"cities": "weights", "sports": "weights", "sentiment": "prompt", "passkey": "prompt"}
CONDITIONS = ("baseline", "top1", "random-0")
CHANCE = 0.5  # for verifying a shown key: equally many yes and no
LONG = ("-long", "-longest")  # name endings of separate runs with longer prompts
RERUN = "python build.py run --recipe artifacts/recipes/pretrained-tasks.yaml"


def pretrained_retrieval(
    context_length: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the shares of keys retrieved and of keys verified, by prompt length, with Wilson's interval over prompts.

    `ratio` is the length over the model's positions. Chance is about 0 for retrieving a key of five digits, and one
    half for verifying a shown key. `auc` is the probability that p(yes) is higher after the right key than after
    another number. The longest lengths have fewer prompts, from a separate run. Raises DataError if no pretrained model
    has rows.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        positions = int(pretrained_models.loc[pretrained_models["model"] == model, "positions"].iloc[0])
        model_names = [model, *(model + ending for ending in LONG)]
        answers = context_length[context_length["model"].isin(model_names) & (context_length["unit_id"] == "")]
        for task, metric, chance in (
            ("passkey", "passkey_exact", 0.0),
            ("verification", "verification_accuracy", CHANCE),
        ):
            cells = answers[
                answers["metric"].eq(metric)
                & answers["condition"].str.fullmatch(OWN_ENCODING)
                & answers["value"].notna()
            ]
            for _, cell in cells.iterrows():
                ratio = float(str(cell["condition"]).removeprefix("own/").removesuffix("x"))
                share, n = float(cell["value"]), int(cell["n"])
                low, high = wilson_interval(round(share * n), n)
                aucs = answers.loc[
                    answers["metric"].eq("verification_auc") & answers["condition"].eq(cell["condition"]), "value"
                ]
                rows.append(
                    {
                        **{"model": model, "display_name": name, "task": task, "tokens": round(ratio * positions)},
                        **{"ratio": ratio, "share": share, "low": low, "high": high, "chance": chance, "n": n},
                        **_auc_columns(aucs if task == "verification" else None),
                    }
                )
    table = table_of_rows(rows, f"context_length has no pretrained model; run: {RERUN}")
    return table.sort_values(["model", "task", "tokens"], ignore_index=True)


def _auc_columns(aucs: pd.Series | None) -> dict[str, Any]:
    if aucs is None:
        return {"auc": None, "note": "auc: of verification"}
    if aucs.empty or pd.isna(aucs.iloc[0]):
        return {"auc": None, "note": "auc: not measured"}
    return {"auc": float(aucs.iloc[0]), "note": ""}


def pretrained_answers(
    knowledge: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return right answers in the four tasks, with Wilson's interval over items; unparsed ones are separate.

    `condition` says whether the model is unchanged, or the largest or a random dimension of each head is set to its
    mean. `held_in` says whether the answer is in the weights or in the prompt; an answer outside the allowed ones
    counts as `unparsed` and not as right. Raises DataError if no pretrained model has rows.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        answers = knowledge[(knowledge["model"] == model) & (knowledge["unit_id"] == "")]
        cells: Any = answers.set_index(["condition", "metric"])
        for task, kind in TASKS.items():
            for condition in CONDITIONS:
                if (condition, f"{task}_accuracy") not in cells.index:
                    continue
                right, unparsed, chance = (
                    cells.loc[(condition, f"{task}_{metric}")] for metric in ("accuracy", "unparsed", "chance")
                )
                n = int(right["n"])
                low, high = wilson_interval(round(float(right["value"]) * n), n)
                rows.append(
                    {
                        **{"model": model, "display_name": name, "task": task, "held_in": kind},
                        **{"condition": condition, "share": float(right["value"]), "low": low, "high": high},
                        **{"unparsed": float(unparsed["value"]), "chance": float(chance["value"]), "n": n},
                    }
                )
    return table_of_rows(rows, f"knowledge has no pretrained model; run: {RERUN}")
