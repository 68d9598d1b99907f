"""Compute quantities of experiments 1 to 9 from measurements, including some that the report on them lacks."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from boundpaper.errors import DataError

MATCHING = "the layer that the source ablated in DroPE does not write its spike"


@dataclass(frozen=True)
class Quantity:
    """One quantity of an experiment on a model.

    Parameters
    ----------
    key, label, unit : str
        Name for code, name for readers, and unit of the values.
    experiment : int
        Number of the experiment, 1 to 9.
    frame, metric, condition : str
        Table, metric and condition of the quantity's rows.
    over : {"model", "layer", "largest", "mean", "lead"}
        How rows are reduced to a value: the model's only row (of one layer, if the experiment chose it), the row of
        `layer`, the largest over layers, the mean over layers from `layer` on, or the value of `layer` minus the
        largest of other layers.
    scale : float
        Factor on the values, such as 100 for percent.
    digits : int
        Number of printed decimals.
    unreported : str
        Why the source has no value; empty if it has one.
    caveat : str
        How the source's quantity differs from this one; empty if it does not.
    """

    key: str
    experiment: int
    label: str
    unit: str
    frame: str
    metric: str
    condition: str = ""
    over: Literal["model", "layer", "largest", "mean", "lead"] = "model"
    layer: int = 0
    scale: float = 1.0
    digits: int = 3
    unreported: str = ""
    caveat: str = ""


def _all_quantities() -> tuple[Quantity, ...]:
    share, percent = "contribution_ratio_of_means", {"unit": "percent", "scale": 100.0, "digits": 1}
    counts = [
        Quantity(
            f"massive_{name}", 1, f"massive values in {words}", "dimensions", "massive_values",
            f"massive_total_{letter}", "pre lambda=5", digits=1,
        )
        for name, words, letter in (("query", "queries", "q"), ("key", "keys", "k"), ("value", "value vectors", "v"))
    ]  # fmt: skip
    ratios = [
        Quantity(
            f"largest_{name}", 1, f"largest norm of {words} over its layer's mean", "ratio", "massive_values",
            f"largest_ratio_{letter}", "pre", "largest", digits=2, unreported="the source prints counts only",
        )
        for name, words, letter in (("query", "queries", "q"), ("key", "keys", "k"))
    ]  # fmt: skip
    nats = "nats per token"
    only_massive = "the source fills the massive dimensions only"
    disruption = [
        Quantity("massive_minus_random", 2, "massive dimensions zeroed, minus random ones", nats, "disruption",
                 "minus_random", "threshold_massive_zero_pre"),
        Quantity("largest_minus_random", 2, "largest dimension of each head levelled, minus a random one", nats,
                 "disruption", "minus_random", "top1_massive_mean_pre", unreported=only_massive),
        Quantity("largest_minus_matched", 2, "the same, minus dimensions of equal norm", nats, "disruption",
                 "minus_matched", "top1_massive_mean_pre", unreported=only_massive),
    ]  # fmt: skip
    knowledge = [
        Quantity(f"{name}_degradation", 3, f"fall of {words}, largest dimension levelled", frame="knowledge",
                 metric=f"{name}_degradation", condition="top1", **percent)  # type: ignore[arg-type]
        for name, words in (
            ("parametric", "parametric tasks"), ("contextual", "contextual tasks"), ("passkey", "passkey retrieval"),
        )
    ]  # fmt: skip
    sinks = [
        Quantity("sink_rate", 4, "heads that are sinks at 0.3", frame="sinks", metric="sink_rate",
                 condition="rows=all tau=0.3", **percent),  # type: ignore[arg-type]
        Quantity("even_attention", 4, "even attention to the first token", frame="sinks",
                 metric="uniform_null", condition="rows=all", over="mean",
                 unreported="the source has no null for its prompts", **percent),  # type: ignore[arg-type]
        Quantity("sink_excess", 4, "attention to the first token, minus even attention", frame="sinks",
                 metric="sink_excess", condition="rows=all", over="mean",
                 unreported="the source has no null for its prompts", **percent),  # type: ignore[arg-type]
        Quantity("largest_first_norm", 4, "norm of the first token over the others', largest of all layers", "ratio",
                 "sinks", "first_ratio", over="largest", digits=2),
        Quantity("spike_layer", 4, "layer after which that ratio first is above 2", "layer", "sinks", "spike_layer",
                 "first ratio above 2", digits=0),
        Quantity("bos_mlp_matching", 4, "first token's MLP output zeroed where it writes the spike", nats, "sinks",
                 "delta_nats", "bos_mlp_matching", caveat=MATCHING),
        Quantity("bos_mlp_best", 4, "first token's MLP output zeroed where that costs most", nats, "sinks",
                 "delta_nats", "bos_mlp_best", unreported="the source ablates one layer"),
    ]  # fmt: skip
    first_value = [
        Quantity("first_mass", 5, "attention mass on the first token", frame="bos_value", metric="first_mass",
                 over="mean", **percent),  # type: ignore[arg-type]
        Quantity("write", 5, "mass times norm of the first token's value", "norm", "bos_value", "write", over="mean",
                 digits=2),
        Quantity("bos_value_spike", 5, "first token's value zeroed in the spike layer", nats, "bos_value",
                 "delta_nats", "bos_value_spike", caveat=MATCHING),
        Quantity("bos_value_all", 5, "first token's value zeroed in all layers", nats, "bos_value", "delta_nats",
                 "bos_value_all"),
    ]  # fmt: skip
    layers = [
        Quantity(f"layer1_{part}", 6, f"{words} of layer 1 zeroed", nats, "layer_ablation", "delta_nats", part)
        for part, words in (
            ("mlp", "MLP"), ("attention", "attention"), ("both", "both parts"),
            ("both_bos", "both parts at the first token"),
        )
    ]  # fmt: skip
    leads = [
        Quantity(f"layer1_lead_{part}", 6, f"{words} zeroed: layer 1 minus the costliest other layer", nats,
                 "layer_ablation", "delta_nats", f"sweep_{part}", "lead", 1,
                 unreported="the source ablates layer 1 only")
        for part, words in (("mlp", "MLP"), ("attention", "attention"), ("both", "both parts"))
    ]  # fmt: skip
    attention = [
        Quantity("first_attention", 7, "attention to the first token", frame="attention_patterns",
                 metric="first_attention", over="mean", **percent),  # type: ignore[arg-type]
        Quantity("local_attention", 7, "attention to the five tokens before", frame="attention_patterns",
                 metric="local_attention", over="mean", **percent),  # type: ignore[arg-type]
    ]  # fmt: skip
    balance = [
        Quantity("layer1_share", 8, "attention's share of what layer 1 writes", frame="layer_content", metric=share,
                 condition="all", over="layer", layer=1, **percent),  # type: ignore[arg-type]
        Quantity("layer0_share", 9, "attention's share of what layer 0 writes", frame="crosslayer_balance",
                 metric=share, condition="all", over="layer", layer=0, **percent),  # type: ignore[arg-type]
        Quantity("later_share", 9, "the same, mean of the layers from 2 on", frame="crosslayer_balance", metric=share,
                 condition="all", over="mean", layer=2, **percent),  # type: ignore[arg-type]
    ]  # fmt: skip
    return (*counts, *ratios, *disruption, *knowledge, *sinks, *first_value, *layers, *leads, *attention, *balance)


QUANTITIES = _all_quantities()


def quantity_of_model(quantity: Quantity, rows: pd.DataFrame, where: str) -> tuple[float, str]:
    """Return the value of a quantity for one model, in the quantity's unit, and the reason if the value is NaN.

    `rows` are the rows of one measurement of this model, with the columns `metric, condition, unit_id, layer, head,
    value, reason`. `where` names the measurement in errors. Raises DataError if no row matches the quantity, or several
    rows where one value is needed.
    """
    is_quantity = (rows["metric"] == quantity.metric) & (rows["condition"] == quantity.condition)
    matching = rows[is_quantity & (rows["unit_id"] == "") & rows["head"].isna()]
    label = f"{quantity.metric} under '{quantity.condition}'"
    if matching.empty:
        raise DataError(f"{where}: none of the {len(rows)} rows belongs to {label}; measure the model again")
    value = _reduce(quantity, matching.set_index("layer")["value"].astype(float), f"{where}, {label}") * quantity.scale
    reasons = sorted({str(reason) for reason in matching["reason"]} - {""})
    if quantity.over == "mean" and not (matching["layer"] >= quantity.layer).any():
        reasons = [f"the model has no layer from {quantity.layer} on"]
    return value, "; ".join(reasons) if np.isnan(value) else ""


def _reduce(quantity: Quantity, values: pd.Series, where: str) -> float:
    """Reduce one model's rows by layer to one value."""
    layers = values[values.index.notna()]
    if quantity.over == "model":
        model_values = values[values.index.isna()]
        candidates = model_values if len(model_values) else layers  # rows of an ablation name the one ablated layer
        if len(candidates) != 1:
            raise DataError(f"{where}: {len(candidates)} rows where one value is needed; measure the model again")
        return float(candidates.iloc[0])
    layer_value = layers[layers.index == quantity.layer]
    if quantity.over in ("layer", "lead") and len(layer_value) != 1:
        fault = f"{len(layer_value)} rows of layer {quantity.layer}, where one is needed"
        raise DataError(f"{where}: {fault}; measure the model again")
    other_layers = layers[layers.index != quantity.layer]
    by_scope = {
        "layer": layer_value.sum(skipna=False),
        "largest": layers.max(),
        "mean": layers[layers.index >= quantity.layer].mean(),
        "lead": layer_value.sum(skipna=False) - other_layers.max(),
    }
    return float(by_scope[quantity.over])
