"""What trained models of others retrieve and verify, by the words, the place and the wrong key of a prompt."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from analysis.statistics.proportion import wilson_interval
from analysis.studies.pretrained._named import named
from analysis.studies.pretrained.answers import RERUN
from artifacts.errors import DataError

PART = re.compile(r"own/(?P<ratio>[0-9.]+)x/(?P<part>form|depth):(?P<which>.+)")
WHOLE = re.compile(r"own/(?P<ratio>[0-9.]+)x")
SAID = "p_yes_"
COLUMNS = ("model", "display_name", "tokens", "part", "which", "value", "low", "high", "n", "auc", "note")


def pretrained_retrieval_parts(
    context_length: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Keys found by wording (`form`) and by fifth of the depth (`depth`), and yes said to each kind of key (`shown`).

    `value` of `form` and `depth` is the share of keys found, with Wilson's interval over prompts. Of `shown` it is the
    mean probability of yes, of yes and no, after the key itself (`exact`) or one kind of wrong key; `auc` is the chance
    that yes is likelier after the key than after that kind.

    Raises
    ------
    DataError
        When no pretrained model was asked for keys.
    """
    rows: list[dict[str, Any]] = []
    for model, name in named(pretrained_models, subjects).items():
        positions = int(pretrained_models.loc[pretrained_models["model"] == model, "positions"].iloc[0])
        mine = context_length[(context_length["model"] == model) & (context_length["unit_id"] == "")]
        known = mine[mine["value"].notna()]
        aucs = mine.set_index(["condition", "metric"])["value"]
        for _, each in known.iterrows():
            condition, metric = str(each["condition"]), str(each["metric"])
            value, n = float(each["value"]), int(each["n"])
            if metric == "passkey_exact" and (match := PART.fullmatch(condition)):
                low, high = wilson_interval(round(value * n), n)
                found = {
                    "part": match["part"],
                    "which": match["which"],
                    "low": low,
                    "high": high,
                    "note": "auc: of shown",
                }
            elif (kind := metric.removeprefix(SAID)) != metric and (match := WHOLE.fullmatch(condition)):
                if kind.startswith("raw_") or kind.endswith("_sd"):
                    continue
                auc = aucs.get((condition, f"verification_auc_{kind}"))
                why = "low, high: a mean probability" + ("; auc: the key itself" if kind == "exact" else "")
                found = {"part": "shown", "which": kind, "auc": auc, "note": why}
            else:
                continue
            tokens = round(float(match["ratio"]) * positions)
            rows.append({"model": model, "display_name": name, "tokens": tokens, "value": value, "n": n, **found})
    if not rows:
        raise DataError(f"context_length has no pretrained model; run: {RERUN}")
    made = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    return made.sort_values(["model", "part", "tokens", "which"], ignore_index=True)
