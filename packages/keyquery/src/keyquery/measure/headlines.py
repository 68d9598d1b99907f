"""Declare the headline quantities, which summaries show and comparisons test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import pandas as pd

from keyquery.tasks.items import TASKS


@dataclass(frozen=True)
class Headline:
    """A headline quantity of an experiment.

    Attributes
    ----------
    label : str
        Name of the quantity for readers.
    metric, condition : str
        Metric and condition of the rows; in a condition, `*` matches any text.
    scale : float
        Factor on the values, such as 100 for percent.
    unit : str
        Unit of the scaled values; empty for a plain number.
    """

    label: str
    metric: str
    condition: str = ""
    scale: float = 1.0
    unit: str = ""


def _percent(label: str, metric: str, condition: str = "") -> Headline:
    return Headline(label, metric, condition, 100.0, "%")


def _nats_headline(label: str, metric: str, condition: str) -> Headline:
    return Headline(label, metric, condition, unit="nats per token")


PLASTICITY = (
    Headline("plasticity", "ap_overall"),
    Headline("plasticity, first fifth", "ap_first_20"),
    Headline("plasticity, last fifth", "ap_last_20"),
    Headline("drop of plasticity", "ap_drop"),
)
HEADLINES: dict[str, tuple[Headline, ...]] = {
    "head_metrics": (*PLASTICITY, Headline("strength of the positional bias", "bias_strength")),
    "massive_values": (
        *(
            Headline(f"massive values in {words}", f"massive_total_{letter}", "pre lambda=5")
            for letter, words in (("q", "queries"), ("k", "keys"), ("v", "values"))
        ),
        Headline("largest query dimension over the mean", "largest_ratio_q", "pre"),
        Headline("largest key dimension over the mean", "largest_ratio_k", "pre"),
    ),
    "disruption": (
        _nats_headline("massive dimensions zeroed", "text_delta_nats", "threshold_massive_zero_pre"),
        _nats_headline("random dimensions zeroed", "text_delta_nats", "threshold_random_zero_pre"),
        _nats_headline("largest dimension of each head levelled", "text_delta_nats", "top1_massive_mean_pre"),
    ),
    "knowledge": (
        *(_percent(f"{task} answered right", f"{task}_right", "baseline") for task in TASKS),
        *(_percent(f"{task} answered right, largest dimension levelled", f"{task}_right", "top1") for task in TASKS),
    ),
    "sinks": (
        _percent("attention to the first token", "sink_score", "rows=all"),
        _percent("heads that are sinks at 0.3", "sink_rate", "rows=all tau=0.3"),
    ),
    "bos_value": (
        _percent("attention mass on the first token", "first_mass"),
        Headline("mass times norm of the first token's value", "write"),
        Headline("first token's value over the others'", "value_ratio"),
    ),
    "layer_ablation": tuple(
        _nats_headline(f"{words} of layer 1 zeroed", "delta_nats", part)
        for part, words in (("mlp", "MLP"), ("attention", "attention"), ("both", "both parts"))
    ),
    "attention_patterns": (
        _percent("attention to the first token", "first_attention"),
        _percent("attention to the five tokens before", "local_attention"),
        _percent("entropy of attention over even attention", "entropy_share"),
    ),
    "layer_content": (_percent("attention's share of what layers write", "contribution_mean_of_ratios", "content"),),
    "crosslayer_balance": (
        Headline("layers in which attention writes more", "contribution_mean_of_ratios_attention_larger", "content"),
        _percent("spread of attention's share over layers", "contribution_mean_of_ratios_sd_over_layers", "content"),
    ),
    "context_length": (_percent("keys retrieved", "passkey_right", "own/*"),),
    "text_kinds": tuple(replace(PLASTICITY[index], condition="*") for index in (0, 3)),
    "softmax_globality": PLASTICITY[:1],
    "anchoring": (Headline("questions answered right", "right_share", "*", unit="%"),),
}


def headlines(experiment: str, rows: pd.DataFrame, metrics: Sequence[str] = ()) -> list[Headline]:
    """Return the headline quantities for which a measurement has rows, one for each condition.

    `rows` are the result of `keyquery.measure.units.as_tidy`. If an experiment declares no headlines, every quantity
    that has rows for single texts or items is a headline. With `metrics`, these metrics are the headlines instead.
    """
    measured_pairs = list(dict.fromkeys(zip(rows["metric"], rows["condition"], strict=True)))
    if metrics:
        quantities = [Headline(metric.replace("_", " "), metric, "*") for metric in metrics]
    elif experiment in HEADLINES:
        quantities = list(HEADLINES[experiment])
    else:
        unit_rows = rows[(rows["unit_id"] != "") & (rows["layer"] == "") & (rows["head"] == "")]
        quantities = [Headline(metric.replace("_", " "), metric, "*") for metric in dict.fromkeys(unit_rows["metric"])]
    return [
        _under_condition(quantity, condition)
        for quantity in quantities
        for metric, condition in measured_pairs
        if metric == quantity.metric and fnmatchcase(condition, quantity.condition)
    ]


def _under_condition(quantity: Headline, condition: str) -> Headline:
    """Return a declared quantity under one condition; if the declaration has `*`, the label names the condition."""
    if "*" not in quantity.condition or not condition:
        return replace(quantity, condition=condition)
    return replace(quantity, condition=condition, label=f"{quantity.label}, {condition}")
