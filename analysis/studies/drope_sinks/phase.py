"""Follow the first token's state over layers: spike of the norm by three definitions, plateau, and entropy."""

import math

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from analysis.studies._perplexity import number
from analysis.studies.drope_sinks._pair import beside_printed, by_layer, larger_model
from analysis.vocabulary import PAIR
from boundpaper.store.frames import pick

METRICS = {"bos_norm": "norm", "bos_ratio": "ratio", "entropy": "entropy", "anisotropy": "anisotropy"}
# a layer is on the plateau if its norm is at least this share of the peak
PLATEAU = 0.95
PRINTED_AS = {
    "spike_first_above": "bos_spike_layer",
    "spike_largest_ratio": "bos_spike_layer",
    "spike_largest_rise": "bos_spike_layer",
    "spike_mlp_write": "bos_spike_layer",
    "peak_norm": "peak_bos_norm",
    "peak_norm_layer": "peak_bos_norm_layer",
}
ENTROPY_LAYERS = (1, 2, 3, 4)  # layers where the first token's norm exceeds the others' most


def phase_layers(drope_published_series: pd.DataFrame) -> pd.DataFrame:
    """Return published entropy, anisotropy, and the first token's norm and ratio to others, by layer and model.

    `*_sd` are standard deviations over prompts as published; `other_*` is the norm of the other tokens implied by
    norm and ratio (treating a mean of ratios as a ratio of means). Layer 31 is measured after the final
    normalisation.
    """
    series = drope_published_series[drope_published_series["experiment"] == "exp4_phase_metrics"]
    spread = by_layer(series, {metric: f"{name}_sd" for metric, name in METRICS.items()}, "std_over_prompts")
    table = by_layer(series, METRICS).merge(spread, on="layer")
    endings = ("_rope", "_sd_rope", "_drope", "_sd_drope")
    table = table[["layer", *(f"{name}{ending}" for name in METRICS.values() for ending in endings)]]
    for model in ("rope", "drope"):
        table[f"other_{model}"] = table[f"norm_{model}"] / table[f"ratio_{model}"]
    table["more_entropy"] = larger_model(table, "entropy")
    return table


def phase_metrics(
    phase_layers: pd.DataFrame,
    drope_phase: pd.DataFrame,
    drope_stated: pd.DataFrame,
    drope_published_content: pd.DataFrame,
) -> pd.DataFrame:
    """Return each phase metric, recomputed from the published series and as printed in the report.

    The spike layer has three definitions: the printed one (first layer whose ratio exceeds the stated one), the
    largest ratio, and the largest rise of the norm; a fourth row has the layer (of 0 to 2) whose MLP writes most to
    the first token. `*_printed` is empty if the report prints no value.
    """
    layers = phase_layers["layer"].to_numpy(dtype=int)
    spike_ratio = float(pick(drope_stated, statement="s5_4_spike_ratio")["value"])
    norms = drope_published_content[drope_published_content["metric"] == "mlp_output_norm_bos"]
    quantities: dict[str, dict[str, float]] = {}
    for model in PAIR:
        suffix = model.lower()
        norm, ratio, entropy, spread = (
            pd.Series(phase_layers[f"{metric}_{suffix}"].to_numpy(dtype=float), index=layers)
            for metric in ("norm", "ratio", "entropy", "norm_sd")
        )
        plateau = layers[norm.to_numpy() >= PLATEAU * norm.max()]
        writes = {layer: number(norms, "value", positional=model, layer=layer) for layer in sorted(set(norms["layer"]))}
        quantities[model] = {
            "spike_first_above": float(layers[ratio.to_numpy() > spike_ratio][0]),
            "spike_largest_ratio": float(layers[ratio.argmax()]),
            "spike_largest_rise": float(layers[1:][np.diff(norm.to_numpy()).argmax()]),
            "spike_mlp_write": float(max(writes, key=lambda layer: writes[layer])),
            **{f"ratio_layer_{layer}": float(ratio[layer]) for layer in range(3)},
            **{f"norm_layer_{layer}": float(norm[layer]) for layer in range(3)},
            "peak_norm": norm.max(),
            "peak_norm_layer": float(layers[norm.argmax()]),
            "plateau_first": float(plateau.min()),
            "plateau_last": float(plateau.max()),
            "plateau_span": 100 * (1 - norm.loc[plateau].min() / norm.max()),
            "norm_sd_at_peak": float(spread.iloc[norm.argmax()]),
            "mlp_write_layer_1": writes[1],
            "mlp_write_layer_2": writes[2],
            "min_entropy": entropy.min(),
            "min_entropy_layer": float(layers[entropy.argmin()]),
            "entropy_layer_0": float(entropy[0]),
            "layers_with_more_entropy": float((phase_layers["more_entropy"] == model).sum()),
        }
    return beside_printed(quantities, drope_phase, PRINTED_AS)


def entropy_room(phase_layers: pd.DataFrame) -> pd.DataFrame:
    """Bound the number of other tokens compatible with the published entropy, by singular values and by their squares.

    An entropy H bounds the largest share from below: shares p, 1 - p have entropy h(p), and any split of 1 - p into
    more shares has a larger entropy, so h(p1) <= H. Let the first token's norm be the largest singular value. Outside
    its direction, the printed formula (shares of the singular values' sum) then leaves a squared norm of at most
    ((1 - p1)/p1)^2 norm^2, and squared singular values leave at most (1 - p1)/p1 norm^2. Divided by the squared norm
    of the other tokens (from the published ratio), this bounds the number of tokens orthogonal to the first one.
    """
    rows = []
    for model in PAIR:
        for _, row in phase_layers[phase_layers["layer"].isin(ENTROPY_LAYERS)].iterrows():
            entropy, norm, other_norm = (float(row[f"{name}_{model.lower()}"]) for name in ("entropy", "norm", "other"))
            share = brentq(lambda p, entropy=entropy: _binary_entropy(p) - entropy, 0.5, 1 - 1e-15)
            odds = (1 - share) / share
            rows.append(
                {
                    "positional": model,
                    "layer": int(row["layer"]),
                    "entropy": entropy,
                    "largest_share": share,
                    "norm": norm,
                    "other_norm": other_norm,
                    "tokens_printed_formula": odds**2 * norm**2 / other_norm**2,
                    "tokens_squared": odds * norm**2 / other_norm**2,
                }
            )
    return pd.DataFrame(rows)


def _binary_entropy(share: float) -> float:
    return -share * math.log(share) - (1 - share) * math.log1p(-share)


def phase_summary(phase_metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the report's contrasts between models in the phase metrics, recomputed from the published series.

    `*_delay` is DroPE's layer minus RoPE's.
    """
    values = phase_metrics.set_index("quantity")
    rope, drope = (values[model].astype(float) for model in ("rope", "drope"))
    numbers = {
        "peak_gap_percent": 100 * (1 - drope["peak_norm"] / rope["peak_norm"]),
        "min_entropy_ratio": drope["min_entropy"] / rope["min_entropy"],
        "largest_ratio_delay": drope["spike_largest_ratio"] - rope["spike_largest_ratio"],
        "largest_rise_delay": drope["spike_largest_rise"] - rope["spike_largest_rise"],
    }
    return pd.DataFrame({"quantity": list(numbers), "value": list(numbers.values())})
