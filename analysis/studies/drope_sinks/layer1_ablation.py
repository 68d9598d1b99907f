"""Analyse the removal of parts of layer 1: perplexity as ratios and in nats, their additivity, and the four tasks."""

import math

import pandas as pd

from analysis.studies._perplexity import agreement_of_ratio, effect
from analysis.studies.drope_sinks._tasks import against_baseline, shares
from analysis.vocabulary import PAIR
from boundpaper.statistics import frame
from boundpaper.statistics.rounding import Interval, ratio
from boundpaper.store.frames import pick

CONDITIONS = ("layer1_mlp", "layer1_attn", "layer1_both", "layer1_bos_only")
TASKS = "5 (tasks)"  # Experiment 6 has the same task settings as Experiment 4


def layer1_effects(drope_layer1_perplexity: pd.DataFrame) -> pd.DataFrame:
    """Return perplexity under each ablation of layer 1: ratio to the baseline, printed and recomputed, and nats.

    `share_of_both` is the effect in nats in percent of the effect of removing both parts.
    """
    rows = []
    for condition in CONDITIONS:
        for model in PAIR:
            baseline, ablated = (
                pick(drope_layer1_perplexity, condition=name, positional=model, metric="ppl")
                for name in ("baseline", condition)
            )
            printed_ratio = pick(drope_layer1_perplexity, condition=condition, positional=model, metric="ppl_ratio")
            change = effect(baseline, ablated)
            rows.append(
                {
                    "condition": condition,
                    "positional": model,
                    "baseline_ppl": baseline["value"],
                    "ablated_ppl": ablated["value"],
                    "ablated_printed": ablated["printed"],
                    "ratio_printed": printed_ratio["printed"],
                    **change.columns,
                    "agreement": agreement_of_ratio(change, printed_ratio),
                }
            )
    table = pd.DataFrame(rows)
    both_nats = table[table["condition"] == "layer1_both"].set_index("positional")["nats"]
    table["share_of_both"] = [
        100 * nats / both_nats[model] for nats, model in zip(table["nats"], table["positional"], strict=True)
    ]
    return table


def layer1_contrasts(layer1_effects: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame) -> pd.DataFrame:
    """Return the report's contrasts between ablations, one number per row, on three scales.

    `mlp_over_attention` compares the two ablations of one model: the baseline cancels in the ratio of ratios
    (`ratio`), but not in the ratio of percent increases (`increase_ratio`) or of nats (`nats_ratio`).
    `mlp_rope_over_drope` compares one ablation between models, and `additivity` compares the effect of removing both
    parts with the sum of both effects, in nats; the shortfall is -`nats_gap`.
    """
    cells = {(row["condition"], row["positional"]): row for _, row in layer1_effects.iterrows()}
    rows = []
    for model in PAIR:
        mlp, attention = (cells[name, model] for name in ("layer1_mlp", "layer1_attn"))
        perplexities = [
            pick(drope_layer1_perplexity, condition=name, positional=model, metric="ppl")
            for name in ("layer1_mlp", "layer1_attn")
        ]
        interval = ratio(*(Interval(cell["low"], cell["high"]) for cell in perplexities))
        rows.append(_contrast("mlp_over_attention", model, mlp, attention, interval))
    for condition in ("layer1_mlp", "layer1_both", "layer1_bos_only"):
        rope, drope = (cells[condition, model] for model in PAIR)
        rows.append(_contrast(f"{condition.removeprefix('layer1_')}_rope_over_drope", "both", rope, drope))
    rope_mlp, drope_both = cells["layer1_mlp", "RoPE"], cells["layer1_both", "DroPE"]
    rows.append(_contrast("rope_mlp_over_drope_both", "both", rope_mlp, drope_both))
    for model in PAIR:
        mlp, attention, both = (cells[name, model] for name in ("layer1_mlp", "layer1_attn", "layer1_both"))
        summed = mlp["nats"] + attention["nats"]
        rows.append(
            {
                "contrast": "additivity",
                "positional": model,
                "first_nats": both["nats"],
                "second_nats": summed,
                "nats_ratio": both["nats"] / summed,
                "nats_gap": both["nats"] - summed,
                "note": "ratio, ratio_low, ratio_high, increase_ratio: a sum of effects has no perplexity of its own",
            }
        )
    for model in PAIR:
        bos, mlp = (cells[name, model] for name in ("layer1_bos_only", "layer1_mlp"))
        rows.append(_contrast("bos_only_over_mlp", model, bos, mlp))
    return pd.DataFrame(rows)


def _contrast(
    name: str, model: str, first: pd.Series, second: pd.Series, interval: Interval | None = None
) -> dict[str, object]:
    """Return the contrast of two effects; without `interval`, the range follows from the two rounded ratios."""
    interval = interval or ratio(*(Interval(row["ratio_low"], row["ratio_high"]) for row in (first, second)))
    return {
        "contrast": name,
        "positional": model,
        "ratio": first["ratio"] / second["ratio"],
        "ratio_low": interval.low,
        "ratio_high": interval.high,
        "increase_ratio": first["increase_percent"] / second["increase_percent"],
        "first_nats": first["nats"],
        "second_nats": second["nats"],
        "nats_ratio": first["nats"] / second["nats"],
        "nats_gap": math.log(first["ratio"] / second["ratio"]),
        "note": "",
    }


def layer1_task_shares(
    drope_layer1_tasks: pd.DataFrame, drope_script_rates: pd.DataFrame, drope_protocols: pd.DataFrame
) -> pd.DataFrame:
    """Return both models' accuracy on four tasks under each ablation of layer 1, in percent of counted answers."""
    return shares(drope_layer1_tasks, drope_script_rates, drope_protocols, TASKS, "6")


def layer1_task_tests(layer1_task_shares: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return Fisher's exact tests of ablations against the baseline where counts are known; Holm over all tests."""
    return frame(against_baseline(layer1_task_shares, "layer1_task_tests", test_families))
