"""Answers of pretrained models: passkeys by length of the prompt, and knowledge in weights and in the prompt."""

from typing import Any

import pandas as pd

from analysis.studies.pretrained._named import display_names
from boundpaper.errors import DataError
from boundpaper.statistics.proportion import wilson_interval

OWN = r"own/(?P<ratio>[0-9.]+)x"  # under the model's own encoding, prompts of all forms and depths
TASKS = {"cities": "weights", "sports": "weights", "sentiment": "prompt", "passkey": "prompt"}
CONDITIONS = ("baseline", "top1", "random-0")
CHANCE = 0.5  # of a key that is shown: yes or no, as many of each
LONG = ("-long", "-longest")  # endings of a measurement's name, where longer prompts were asked in a run of their own
RERUN = "python build.py run --recipe artifacts/recipes/pretrained-tasks.yaml"


def pretrained_retrieval(
    context_length: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Keys retrieved and verified by length of the prompt, with Wilson's interval over prompts.

    `ratio` is the length over the model's positions. Chance is about 0 for a key of five digits, and one half for
    telling whether a key that is shown is the right one. `auc` is the chance that yes is likelier after the key than
    after another number, whatever the likelier answer is. Prompts of the longest lengths, of which fewer could be
    asked, come from a run of their own. Raises DataError when no pretrained model was asked for keys.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        positions = int(pretrained_models.loc[pretrained_models["model"] == model, "positions"].iloc[0])
        own = [model, *(model + ending for ending in LONG)]
        mine = context_length[context_length["model"].isin(own) & (context_length["unit_id"] == "")]
        for task, metric, chance in (
            ("passkey", "passkey_exact", 0.0),
            ("verification", "verification_accuracy", CHANCE),
        ):
            cells = mine[mine["metric"].eq(metric) & mine["condition"].str.fullmatch(OWN) & mine["value"].notna()]
            for _, each in cells.iterrows():
                ratio = float(str(each["condition"]).removeprefix("own/").removesuffix("x"))
                share, n = float(each["value"]), int(each["n"])
                low, high = wilson_interval(round(share * n), n)
                ranked = mine.loc[
                    mine["metric"].eq("verification_auc") & mine["condition"].eq(each["condition"]), "value"
                ]
                rows.append(
                    {
                        **{"model": model, "display_name": name, "task": task, "tokens": round(ratio * positions)},
                        **{"ratio": ratio, "share": share, "low": low, "high": high, "chance": chance, "n": n},
                        **_auc_columns(ranked if task == "verification" else None),
                    }
                )
    if not rows:
        raise DataError(f"context_length has no pretrained model; run: {RERUN}")
    return pd.DataFrame(rows).sort_values(["model", "task", "tokens"], ignore_index=True)


def _auc_columns(found: pd.Series | None) -> dict[str, Any]:
    if found is None:
        return {"auc": None, "note": "auc: of verification"}
    if found.empty or pd.isna(found.iloc[0]):
        return {"auc": None, "note": "auc: not measured"}
    return {"auc": float(found.iloc[0]), "note": ""}


def pretrained_answers(
    knowledge: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Right answers of the four tasks, with Wilson's interval over items; what could not be read is set apart.

    `condition` is the model as it is, with the largest dimension of each head levelled, and with a random one levelled.
    `held_in` says whether the answer is in the weights or in the prompt; an answer that is none of those allowed counts
    as `unparsed` and is not right. Raises DataError when no pretrained model was asked.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        mine = knowledge[(knowledge["model"] == model) & (knowledge["unit_id"] == "")]
        known: Any = mine.set_index(["condition", "metric"])
        for task, held in TASKS.items():
            for condition in CONDITIONS:
                if (condition, f"{task}_accuracy") not in known.index:
                    continue
                right, unparsed, chance = (
                    known.loc[(condition, f"{task}_{metric}")] for metric in ("accuracy", "unparsed", "chance")
                )
                n = int(right["n"])
                low, high = wilson_interval(round(float(right["value"]) * n), n)
                rows.append(
                    {
                        **{"model": model, "display_name": name, "task": task, "held_in": held},
                        **{"condition": condition, "share": float(right["value"]), "low": low, "high": high},
                        **{"unparsed": float(unparsed["value"]), "chance": float(chance["value"]), "n": n},
                    }
                )
    if not rows:
        raise DataError(f"knowledge has no pretrained model; run: {RERUN}")
    return pd.DataFrame(rows)
