"""Bound what the first token's values can add to other tokens: norms, attention mass, their product, and ablations."""

import pandas as pd

from analysis.studies._perplexity import printed_effect
from analysis.studies.drope_sinks._pair import beside_printed, by_layer, larger_model
from analysis.vocabulary import PAIR
from boundpaper.statistics.rounding import Interval, ratio
from boundpaper.store.frames import pick

METRICS = {"bos_value_norm": "value_norm", "bos_attention_mass": "mass", "bos_write_score": "write"}


def write_layers(drope_published_series: pd.DataFrame) -> pd.DataFrame:
    """Return the published value norm of the first token, attention mass on it and write score, by layer and model.

    `write_*` is the mean over heads of norm times mass, `product_*` the product of the two means over heads: they
    differ if heads with large values attend less to the first token.
    """
    series = drope_published_series[drope_published_series["experiment"] == "exp5_bos_write"]
    table = by_layer(series, METRICS)
    for model in ("rope", "drope"):
        table[f"product_{model}"] = table[f"value_norm_{model}"] * table[f"mass_{model}"]
    table["more_write"] = larger_model(table, "write")
    return table


def write_summary(write_layers: pd.DataFrame, drope_bos_write: pd.DataFrame) -> pd.DataFrame:
    """Return means over layers as published and as printed, also without layer 1, and the largest write scores.

    `product_of_means` is the mean norm times the mean mass; `*_without_layer_1` excludes the layer of DroPE's largest
    score; `layers_with_more_write` counts the layers in which the model has the larger score.
    """
    layers = write_layers.set_index("layer")
    quantities: dict[str, dict[str, float]] = {}
    for model in PAIR:
        norm, mass, write = (layers[f"{name}_{model.lower()}"] for name in METRICS.values())
        first, second = write.to_numpy(dtype=float).argsort()[::-1][:2]
        quantities[model] = {
            "bos_value_norm": norm.mean(),
            "bos_attention_mass": 100 * mass.mean(),
            "effective_write": write.mean(),
            "max_write_layer": float(first),
            "product_of_means": norm.mean() * mass.mean(),
            "max_write": write.max(),
            "write_layer_1": write[1],
            "second_write": float(write.iloc[second]),
            "second_write_layer": float(second),
            "value_norm_without_layer_1": norm.drop(1).mean(),
            "write_without_layer_1": write.drop(1).mean(),
            "layers_with_more_write": float((layers["more_write"] == model).sum()),
        }
    return beside_printed(quantities, drope_bos_write, {})


def bos_value_norms(drope_published_content: pd.DataFrame) -> pd.DataFrame:
    """Return the norm of the first token's value vector and the mean over tokens, in the three published layers.

    `percent` is the first token's norm in percent of the mean; near zero, attention to the first token writes almost
    nothing.
    """
    rows = []
    for model in PAIR:
        for layer in sorted(set(drope_published_content["layer"])):
            cells = drope_published_content[
                (drope_published_content["positional"] == model) & (drope_published_content["layer"] == layer)
            ].set_index("metric")["value"]
            rows.append(
                {
                    "positional": model,
                    "layer": int(layer),
                    "bos": cells["v_norm_bos"],
                    "mean": cells["v_norm_mean"],
                    "percent": 100 * cells["v_norm_bos"] / cells["v_norm_mean"],
                }
            )
    return pd.DataFrame(rows)


def bos_ablations(
    drope_bos_value_ablation: pd.DataFrame,
    drope_ablation_comparison: pd.DataFrame,
    drope_stated: pd.DataFrame,
    bos_mlp_effects: pd.DataFrame,
) -> pd.DataFrame:
    """Return the cost in nats per token of every ablation at the first token (values or outputs, one layer or all).

    `layers` names the ablated layers. For value ablations only ratios are printed; other ratios are recomputed from
    perplexities. `matched` says whether the same layers are ablated in both models.
    """
    rows = []
    for condition in ("bos_value_spike_layer", "bos_value_all_layers"):
        for model in PAIR:
            printed_ratio = pick(drope_bos_value_ablation, condition=condition, positional=model, metric="ppl_ratio")
            base = pick(drope_bos_value_ablation, condition="baseline", positional=model, metric="ppl")
            all_layers = condition.endswith("all_layers")
            layer = int(pick(drope_stated, statement=f"s5_2_{model.lower()}_spike_layer")["value"])
            rows.append(
                {
                    "ablation": condition,
                    "positional": model,
                    "experiment": 5,
                    "layers": "all" if all_layers else str(layer),
                    "matched": all_layers,
                    "baseline_printed": base["printed"],
                    "ratio_printed": printed_ratio["printed"],
                    **printed_effect(printed_ratio).columns,
                }
            )
    ablations = {4: "bos_mlp_spike_layer", 6: "layer1_bos_only"}
    columns = ["ratio", "ratio_low", "ratio_high", "nats", "nats_low", "nats_high", "increase_percent"]
    layer_counts = bos_mlp_effects.groupby("experiment")["layer"].nunique()
    for _, row in bos_mlp_effects.iterrows():
        rows.append(
            {
                "ablation": ablations[int(row["experiment"])],
                "positional": row["positional"],
                "experiment": int(row["experiment"]),
                "layers": str(row["layer"]),
                "matched": bool(layer_counts[row["experiment"]] == 1),
                "baseline_printed": row["baseline_printed"],
                "ratio_printed": row["ratio_printed"],
                **{name: row[name] for name in columns},
            }
        )
    table = pd.DataFrame(rows)
    keys = set(zip(drope_ablation_comparison["ablation"], drope_ablation_comparison["positional"], strict=True))
    table["in_comparison"] = [key in keys for key in zip(table["ablation"], table["positional"], strict=True)]
    return table


def bos_ablation_contrasts(bos_ablations: pd.DataFrame) -> pd.DataFrame:
    """Compare RoPE with DroPE for each ablation: ratio of the two perplexity ratios, and the gap in nats.

    `gap_nats` is the logarithm of `ratio`; `ratio_low` and `ratio_high` are the range allowed by rounding.
    """
    rows = []
    for ablation, pair in bos_ablations.groupby("ablation", sort=False):
        rope, drope = (pair[pair["positional"] == model].iloc[0] for model in PAIR)
        interval = ratio(*(Interval(row["ratio_low"], row["ratio_high"]) for row in (rope, drope)))
        rows.append(
            {
                "ablation": ablation,
                "rope_layers": rope["layers"],
                "drope_layers": drope["layers"],
                "matched": rope["matched"],
                "ratio": rope["ratio"] / drope["ratio"],
                "ratio_low": interval.low,
                "ratio_high": interval.high,
                "rope_nats": rope["nats"],
                "drope_nats": drope["nats"],
                "gap_nats": rope["nats"] - drope["nats"],
            }
        )
    return pd.DataFrame(rows)


def baseline_perplexities(
    drope_bos_mlp: pd.DataFrame, drope_bos_value_ablation: pd.DataFrame, drope_layer1_perplexity: pd.DataFrame
) -> pd.DataFrame:
    """Return both models' baseline perplexity in three experiments, with the percent difference from the last one."""
    reference = {model: _baseline_row(drope_layer1_perplexity, model, "ppl") for model in PAIR}
    experiments = (
        (4, drope_bos_mlp, "baseline_ppl"),
        (5, drope_bos_value_ablation, "ppl"),
        (6, drope_layer1_perplexity, "ppl"),
    )
    rows = []
    for experiment, table, metric in experiments:
        for model in PAIR:
            base = _baseline_row(table, model, metric)
            rows.append(
                {
                    "experiment": experiment,
                    "positional": model,
                    "printed_text": base["printed"],
                    "value": base["value"],
                    "percent_above_last": 100 * (float(base["value"]) / float(reference[model]["value"]) - 1),
                    "rounds_from_last": bool(base["low"] <= reference[model]["value"] <= base["high"]),
                }
            )
    return pd.DataFrame(rows)


def _baseline_row(table: pd.DataFrame, model: str, metric: str) -> pd.Series:
    rows = table[(table["positional"] == model) & (table["metric"] == metric)]
    return rows[rows["condition"] == "baseline"].iloc[0] if "condition" in rows.columns else rows.iloc[0]
