"""Compare measurements of pretrained models on prose, repeated sentences and source code.

Each kind has its own texts, so values of two kinds are independent.
"""

import math
from typing import Any

import pandas as pd
from scipy import stats

from analysis.studies.pretrained._by_text import massive_totals
from analysis.studies.pretrained._named import display_names, table_of_rows
from boundpaper.statistics.locations.student import student_interval
from boundpaper.statistics.locations.welch import welch_t_from_stats

REPEATED, CODE = "-repeated", "-code"  # ending of a measurement's name, by kind of text
TARGETS = ("massive", "random", "matched", "smallest")
FILLS = ("zero", "mean")
PLASTICITY = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop", "bias_window", "r_q_a", "r_k_a", "plane_var")
FEWEST_TEXTS = 2  # least number of texts per side for a difference of means


def pretrained_repeated(
    disruption: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the cost of filling dimensions on natural text and on repeated sentences, in nats per token.

    There is one row per model, fill and target. `plain` is the unchanged model's loss on each kind, `natural` and
    `repeated` are the mean added loss over texts with Student's interval, and `difference` is repeated minus natural
    with Welch's interval. Massive dimensions are those above 5 times the mean on other texts of the kind. Raises
    DataError if no pretrained model has rows on both kinds.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        kinds = {
            "natural": disruption[disruption["model"] == model],
            "repeated": disruption[disruption["model"] == model + REPEATED],
        }
        for fill in FILLS:
            for target in TARGETS:
                condition = f"threshold_{target}_{fill}_pre"
                by_kind = {kind: cells[cells["condition"] == condition] for kind, cells in kinds.items()}
                values = {
                    kind: cells.loc[(cells["unit_id"] != "") & (cells["metric"] == "text_delta_nats"), "value"].dropna()
                    for kind, cells in by_kind.items()
                }
                if min(map(len, values.values())) < FEWEST_TEXTS:
                    continue
                row: dict[str, Any] = {"model": model, "display_name": name, "fill": fill, "target": target}
                row |= {f"plain_{kind}": _unchanged_nats(cells) for kind, cells in by_kind.items()}
                rows.append(row | _compare_groups(values))
    recipe = "artifacts/recipes/pretrained-repeated.yaml"
    absence = f"disruption has no pretrained model on both kinds of text; run: python build.py run --recipe {recipe}"
    return table_of_rows(rows, absence)


def pretrained_kinds(
    massive_values: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return massive values on prose and on source code, one row per model, `where`, threshold and tensor.

    Values are means over texts with Student's interval; `difference` is code minus prose, with Welch's interval. Raises
    DataError if no pretrained model was measured on both.
    """
    by_text = massive_totals(massive_values).dropna(subset="value")
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        cells = by_text[by_text["model"].isin([model, model + CODE])]
        for (where, threshold, tensor), group in cells.groupby(["where", "threshold", "tensor"], sort=True):
            values = {
                "prose": group.loc[group["model"] == model, "value"],
                "code": group.loc[group["model"] == model + CODE, "value"],
            }
            if min(map(len, values.values())) < FEWEST_TEXTS:
                continue
            labels = {"model": model, "display_name": name, "where": where, "threshold": float(str(threshold))}
            rows.append(labels | {"tensor": tensor, **_compare_groups(values)})
    recipe = "artifacts/recipes/pretrained-code.yaml"
    absence = f"massive_values has no pretrained model on prose and on code; run: python build.py run --recipe {recipe}"
    return table_of_rows(rows, absence)


def pretrained_plasticity_kinds(
    head_metrics: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return metrics of heads on prose and on source code, one row per model and metric.

    `prose` and `code` are means over heads with values on both; `difference` is the mean of code minus prose by head,
    with an interval over key heads (the units); `r` is Spearman's correlation of the two over heads. Raises DataError
    if no pretrained model was captured on both.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        prose, code = (
            head_metrics[head_metrics["model"] == capture].set_index(["layer", "key_head", "head"])
            for capture in (model, model + CODE)
        )
        for metric in PLASTICITY if len(prose) and len(code) else ():
            pairs = pd.DataFrame({"prose": prose[metric], "code": code[metric]}).dropna()
            change = (pairs["code"] - pairs["prose"]).groupby(level=["layer", "key_head"]).mean()
            low, high = student_interval(change.to_numpy(dtype=float)) or (None, None)
            rows.append(
                {
                    **{"model": model, "display_name": name, "metric": metric},
                    **{kind: float(pairs[kind].mean()) for kind in ("prose", "code")},
                    **{"difference": float(change.mean()), "low": low, "high": high, "key_heads": len(change)},
                    **{"heads": len(pairs), "r": float(stats.spearmanr(pairs["prose"], pairs["code"]).statistic)},
                    "note": "" if low is not None else "low, high: key heads that agree exactly, or one",
                }
            )
    return table_of_rows(
        rows,
        "head_metrics has no pretrained model on prose and on code; capture one with --texts code:evaluation, then "
        f"run: python build.py heads CAPTURE --name MODEL{CODE}",
    )


def _unchanged_nats(rows: pd.DataFrame) -> float:
    """Return the unchanged model's nats per token, as the nats under a condition minus the condition's cost."""
    values: Any = rows[rows["unit_id"] == ""].set_index("metric")["value"]
    return math.log(float(values["perplexity"])) - float(values["delta_nats"])


def _compare_groups(groups: dict[str, Any]) -> dict[str, Any]:
    """Return the means of two groups and the difference (second minus first), each with its interval."""
    columns: dict[str, Any] = {}
    for kind, group in groups.items():
        mean = float(group.mean())
        low, high = student_interval(group.to_numpy(dtype=float)) or (mean, mean)  # texts that agree exactly
        columns |= {kind: mean, f"{kind}_low": low, f"{kind}_high": high, f"{kind}_texts": len(group)}
    first, second = groups.values()
    columns["difference"] = float(second.mean() - first.mean())
    columns["low"], columns["high"] = _welch_interval(first, second, columns["difference"])
    return columns


def _welch_interval(first: pd.Series, second: pd.Series, difference: float) -> tuple[float, float]:
    if first.nunique() == second.nunique() == 1:
        return difference, difference
    moments = [(float(values.mean()), float(values.std()), len(values)) for values in (second, first)]
    test = welch_t_from_stats(*moments[0], *moments[1], study="texts", comparison="kinds", unit="text")
    if test.ci_low is None or test.ci_high is None:
        return difference, difference
    return test.ci_low, test.ci_high
