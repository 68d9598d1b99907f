"""Break down by wording, depth and kind of wrong key which passkeys pretrained models retrieve and verify."""

import re
from collections import defaultdict
from typing import Any

import pandas as pd

from analysis.studies.pretrained._named import display_names, table_of_rows
from analysis.studies.pretrained.answers import LONG, RERUN
from boundpaper.statistics.locations.rank_sum import rank_sum_p
from boundpaper.statistics.multiplicity import holm_p
from boundpaper.statistics.proportion import wilson_interval

PART_CONDITION = re.compile(r"own/(?P<ratio>[0-9.]+)x/(?P<part>form|depth):(?P<which>.+)")
WHOLE_CONDITION = re.compile(r"own/(?P<ratio>[0-9.]+)x")
P_YES = "p_yes_"
EXACT = "exact"  # the key itself
COLUMNS = tuple("model display_name tokens part which value low high n auc p p_holm note".split())


def pretrained_retrieval_parts(
    context_length: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return keys found, by wording (`form`) and fifth of the prompt (`depth`), and p(yes), by kind of key (`shown`).

    `value` of `form` and `depth` is the share of keys found, with Wilson's interval over prompts. For `shown` it is
    the mean of p(yes) / (p(yes) + p(no)) after the right key (`exact`), one kind of wrong key, or any wrong key
    (`wrong`); `auc` is the probability that this is higher after the right key. Rows `wrong` have the two-sided p of
    the exact test of Mann and Whitney (1947), and Holm's over the lengths of a model. Raises DataError if no pretrained
    model has rows.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        positions = int(pretrained_models.loc[pretrained_models["model"] == model, "positions"].iloc[0])
        models = [model, *(model + ending for ending in LONG)]
        answers = context_length[context_length["model"].isin(models) & (context_length["unit_id"] == "")]
        known_cells = answers[answers["value"].notna()]
        aucs: Any = answers.set_index(["condition", "metric"])["value"]
        means: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
        for _, cell in known_cells.iterrows():
            condition, metric = str(cell["condition"]), str(cell["metric"])
            value, n = float(cell["value"]), int(cell["n"])
            if metric == "passkey_exact" and (match := PART_CONDITION.fullmatch(condition)):
                low, high = wilson_interval(round(value * n), n)
                columns = {"part": match["part"], "which": match["which"], "low": low, "high": high}
                columns["note"] = "auc: of shown"
            elif (kind := metric.removeprefix(P_YES)) != metric and (match := WHOLE_CONDITION.fullmatch(condition)):
                if kind.startswith("raw_") or kind.endswith("_sd"):
                    continue
                auc = aucs.get((condition, f"verification_auc_{kind}"))
                reason = "low, high: a mean probability" + ("; auc: the key itself" if kind == "exact" else "")
                columns = {"part": "shown", "which": kind, "auc": auc, "note": reason}
                means[condition].append((kind, value, n))
            else:
                continue
            tokens = round(float(match["ratio"]) * positions)
            rows.append({"model": model, "display_name": name, "tokens": tokens, "value": value, "n": n, **columns})
        wrong_rows = [
            _wrong_key_row(kinds, aucs.get((condition, "verification_auc"))) for condition, kinds in means.items()
        ]
        lengths = [round(float(condition.removeprefix("own/").removesuffix("x")) * positions) for condition in means]
        p_values = [row["p"] for row in wrong_rows if row.get("p") is not None]
        adjusted = iter(holm_p(p_values))
        for tokens, row in zip(lengths, wrong_rows, strict=True):
            holm = next(adjusted) if row.get("p") is not None else None
            if row:
                rows.append({"model": model, "display_name": name, "tokens": tokens, **row, "p_holm": holm})
    table = table_of_rows(rows, f"context_length has no pretrained model; run: {RERUN}", COLUMNS)
    table["note"] = [
        f"{note}; p, p_holm: of any wrong key" if pd.isna(p) else note
        for note, p in zip(table["note"], table["p"], strict=True)
    ]
    return table.sort_values(["model", "part", "tokens", "which"], ignore_index=True)


def _wrong_key_row(kinds: list[tuple[str, float, int]], auc: float | None) -> dict[str, Any]:
    """Return a row that compares a length's wrong keys with the right one; empty if either or the AUC is missing."""
    exact = sum(n for kind, _, n in kinds if kind == EXACT)
    wrong = [(value, n) for kind, value, n in kinds if kind != EXACT]
    count = sum(n for _, n in wrong)
    if not exact or not count or auc is None or pd.isna(auc):
        return {}
    mean = sum(value * n for value, n in wrong) / count
    columns = {"part": "shown", "which": "wrong", "value": mean, "n": count, "auc": float(auc)}
    return {**columns, "p": rank_sum_p(float(auc), exact, count), "note": "low, high: a mean probability"}
