"""Compare pretrained models measured here with reported values and with the small models.

A model is included by its role in the table `subjects`, whatever its name; a model not yet measured has no row.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis.studies.pretrained._by_text import massive_totals
from analysis.studies.pretrained._costs import half_interval
from analysis.studies.pretrained._named import display_names, table_of_rows
from analysis.studies.pretrained.beginning import UNROTATED
from boundpaper.errors import DataError
from boundpaper.statistics.locations.student import student_interval

RERUN = "measure them: python build.py run --recipe artifacts/recipes/pretrained.yaml"
REPORTED, SMALL = "reported", "small"
ARM, BASE, CONTEXT = "A", 400, 128  # reference models of the population
METRICS = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop", "bias_window", "r_q_a", "r_k_a", "plane_var")


def pretrained_geometry(
    model_metrics: pd.DataFrame,
    pretrained_models: pd.DataFrame,
    subjects: pd.DataFrame,
    captured_models: pd.DataFrame,
    population_heads: pd.DataFrame,
    population_models: pd.DataFrame,
) -> pd.DataFrame:
    """Return metrics of heads for reported models, the population's models with rotation, and each pretrained model.

    `reported` is the median over the captured models of the source that give the metric, with the smallest and
    largest of them as ends: a range over models, not a confidence interval. `small` is the mean over training seeds
    of arm A at base 400, each a mean over heads, with Student's interval. A pretrained model's mean is over all its
    captured heads, with the interval from resampled key heads; the interval covers heads, not texts. Raises DataError
    if no pretrained model is measured, or one lacks a metric.
    """
    rows: list[dict[str, object]] = []
    small_means = _population_means(population_heads, population_models)
    measurements: Any = model_metrics.set_index(["model", "metric"])
    names = display_names(pretrained_models, subjects)
    measured_models = [model for model in names if model in set(model_metrics["model"])]
    if not measured_models:
        raise DataError(
            "model_metrics has no pretrained model; measure one: `python build.py capture --model smollm2-135m ...`, "
            "then `python build.py heads CAPTURE --name smollm2-135m`"
        )
    for metric in METRICS:
        reported_models = captured_models[[metric, "captured_context"]].dropna(subset=[metric])
        values = reported_models[metric].astype(float)
        rows.append(
            {
                **{"metric": metric, "column": REPORTED, "label": "Reported", "value": float(values.median())},
                **{"low": float(values.min()), "high": float(values.max()), "n": len(values), "unit": "model"},
                "context": int(reported_models["captured_context"].max()),
            }
        )
        seeds = small_means[metric].to_numpy(dtype=float)
        low, high = student_interval(seeds) or (None, None)
        rows.append(
            {
                **{"metric": metric, "column": SMALL, "label": "Small, rotary", "value": float(seeds.mean())},
                **{"low": low, "high": high, "n": len(seeds), "unit": "training seed", "context": CONTEXT},
                "note": "" if low is not None else "one seed has no interval",
            }
        )
        for model in measured_models:
            if (model, metric) not in measurements.index:
                raise DataError(f"artifacts/measurements/model_metrics/{model} lacks {metric}; measure it again")
            cell = measurements.loc[(model, metric)]
            if pd.isna(cell["value"]):
                raise DataError(f"artifacts/measurements/model_metrics/{model}: {metric}: {cell['reason']}")
            rows.append(
                {
                    **{"metric": metric, "column": model, "label": names[model], "value": float(cell["value"])},
                    **{"low": cell["ci_low"], "high": cell["ci_high"], "n": int(cell["key_heads"])},
                    **{"unit": "key head", "context": int(cell["context"])},
                    "note": "" if pd.notna(cell["ci_low"]) else str(cell["reason"]),
                }
            )
    return pd.DataFrame(rows).fillna({"note": ""})


def _population_means(heads: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return metrics as means over heads, one row per seed of arm `ARM` at base `BASE` of the population.

    Raises DataError if no seed of this arm is measured.
    """
    arm_models = models.loc[(models["arm"] == ARM) & (models["base"] == BASE), "model"]
    arm_heads = heads[heads["model"].isin(arm_models)]
    if arm_heads.empty:
        raise DataError(
            f"population_heads has no model of arm {ARM} at base {BASE}; measure one: python build.py lab population "
            f"--seed 1 --base {BASE} --arm {ARM}"
        )
    means: pd.DataFrame = arm_heads.groupby("model")[list(METRICS)].mean()
    return means


def pretrained_profiles(
    model_metrics: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return plasticity by query bin of each pretrained model: mean over heads with an interval over key heads.

    Bins with too few queries for a value are omitted. Raises DataError if no pretrained model has a profile.
    """
    rows: list[dict[str, object]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        model_rows = model_metrics[(model_metrics["model"] == model) & model_metrics["value"].notna()]
        for _, cell in model_rows[model_rows["metric"].str.fullmatch(r"ap_bin_\d+")].iterrows():
            number, bins = int(str(cell["metric"]).rpartition("_")[2]), int(cell["bins"])
            rows.append(
                {
                    **{"model": model, "display_name": name, "bin": number, "position": (number + 0.5) / bins},
                    **{"plasticity": cell["value"], "ci_low": cell["ci_low"], "ci_high": cell["ci_high"]},
                    **{"heads": int(cell["heads"]), "context": int(cell["context"])},
                }
            )
    absence = "model_metrics has no profile of a pretrained model; measure one: `python build.py heads CAPTURE`"
    return table_of_rows(rows, absence).sort_values(["model", "bin"], ignore_index=True)


def pretrained_noise(
    capture_halves: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame, capture_noise: pd.DataFrame
) -> pd.DataFrame:
    """Return the difference to expect if a pretrained model were captured again on other documents of the same kind.

    The halves of a split are independent, so the whole capture's standard deviation is estimated as half their
    difference, or less if the halves have unequal sizes. Splits are orthogonal, so squares are averaged, and the
    interval is by chi-square with one degree of freedom per split. `twice_sd` is the standard deviation of the
    difference of two captures; compare it with `twin_difference`, the difference of the source's two captures of one
    network. Raises DataError if no capture of a pretrained model was analysed in halves.
    """
    twins: Any = capture_noise.drop_duplicates("metric").set_index("metric")["twin_difference"]
    rows = []
    for model, name in display_names(pretrained_models, subjects).items():
        model_rows = capture_halves[(capture_halves["model"] == model) & capture_halves["value"].notna()]
        for metric in [metric for metric in METRICS if metric in set(model_rows["metric"])]:
            metric_rows = model_rows[model_rows["metric"] == metric]
            halves: Any = metric_rows.pivot(index="split", columns="half", values=["value", "documents"]).dropna()
            first, second = (halves["documents", half].astype(float) for half in (0, 1))
            differences = (halves["value", 0] - halves["value", 1]).abs()
            squares = differences**2 * first * second / (first + second) ** 2
            noise, splits = float(np.sqrt(squares.mean())), len(squares)
            low, high = (noise * float(np.sqrt(splits / stats.chi2.ppf(level, splits))) for level in (0.975, 0.025))
            twin = twins.get(metric)
            rows.append(
                {
                    **{"model": model, "display_name": name, "metric": metric},
                    **{"splits": splits, "largest": float(differences.max())},
                    **{"noise_sd": noise, "noise_low": low, "noise_high": high},
                    **{"twice_sd": float(np.sqrt(2)) * noise},
                    "twin_difference": None if twin is None or pd.isna(twin) else abs(float(twin)),
                    "documents": int((first + second).iloc[0]),
                    "note": "twin_difference: no such pair in the source" if twin is None or pd.isna(twin) else "",
                }
            )
    absence = "capture_halves has no pretrained model; run: python build.py heads CAPTURE --halves"
    return table_of_rows(rows, absence)


def pretrained_layers(
    attention_patterns: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return attention to the first token and the share of sink heads, by layer of each pretrained model.

    The interval is Student's over texts, from the stored mean and standard deviation. Raises DataError if no
    pretrained model is measured.
    """
    rows = []
    for model, name in display_names(pretrained_models, subjects).items():
        is_rotated = (attention_patterns["model"] == model) & (attention_patterns["condition"] != UNROTATED)
        rows_of_model = attention_patterns[is_rotated & attention_patterns["layer"].notna()]
        layers: Any = rows_of_model[rows_of_model["head"].isna()].set_index(["metric", "layer"])
        for layer in sorted(set(rows_of_model["layer"].astype(int))):
            mean, deviation = (layers.loc[(metric, layer)] for metric in ("first_attention", "first_attention_sd"))
            sinks, texts = layers.loc[("heads_sink", layer)], int(mean["n"])
            half = half_interval(float(deviation["value"]), texts)
            rows.append(
                {
                    **{"model": model, "display_name": name, "layer": layer, "first_attention": float(mean["value"])},
                    **{"low": max(0.0, float(mean["value"]) - half), "high": min(1.0, float(mean["value"]) + half)},
                    **{"heads_sink": int(sinks["value"]), "heads": int(sinks["n"]), "texts": texts},
                }
            )
    return table_of_rows(rows, f"attention_patterns has no pretrained model; {RERUN}")


def pretrained_massive(
    massive_values: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return massive values of each pretrained model before and after rotation: mean over texts, Student's interval.

    Raises DataError if no pretrained model is measured.
    """
    rows = []
    totals = massive_totals(massive_values)
    for model, name in display_names(pretrained_models, subjects).items():
        model_totals = totals[totals["model"] == model]
        for (where, threshold, tensor), group in model_totals.groupby(["where", "threshold", "tensor"], sort=True):
            values = group["value"].to_numpy(dtype=float)
            mean = float(values.mean())
            low, high = student_interval(values) or (mean, mean)  # texts that agree exactly
            rows.append(
                {
                    **{"model": model, "display_name": name, "where": where, "threshold": float(str(threshold))},
                    **{"tensor": tensor, "count": mean, "low": low, "high": high, "texts": len(values)},
                }
            )
    return table_of_rows(rows, f"massive_values has no pretrained model; {RERUN}")
