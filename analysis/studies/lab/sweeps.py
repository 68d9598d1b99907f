"""Sweeps on the tiny pair: ablations over all layers, and massive values over the threshold."""

from __future__ import annotations

import pandas as pd

from analysis.studies.lab._pair import of_pair, over_seeds

ABLATIONS = {"mlp": "sweep_mlp", "attention": "sweep_attention", "both": "sweep_both", "bos_mlp": "sweep_bos_mlp"}
TENSORS = {"q": "query", "k": "key", "v": "value"}
LAYER = 1  # which the source ablates


def lab_ablation_sweep(layer_ablation: pd.DataFrame, sinks: pd.DataFrame) -> pd.DataFrame:
    """Loss in nats a token when a part of one layer writes nothing, by part and layer, over training seeds.

    Parts: `mlp`, `attention`, `both`, and `bos_mlp`, the MLP's output at the first token only. Columns as of
    `over_seeds`.
    """
    return over_seeds(_sweep(layer_ablation, sinks), ["ablation", "layer"])


def lab_ablation_seeds(layer_ablation: pd.DataFrame, sinks: pd.DataFrame) -> pd.DataFrame:
    """By part, model and training seed: which layer's ablation costs most, how much, and how much that of layer 1.

    `gains` counts layers whose ablation lowers the loss.
    """
    found = []
    for (ablation, side, seed), part in _sweep(layer_ablation, sinks).groupby(
        ["ablation", "side", "training_seed"], sort=False
    ):
        losses = part.set_index("layer")["value"].dropna()
        found.append(
            {
                "ablation": ablation,
                "side": side,
                "training_seed": seed,
                "layers": len(losses),
                "costliest_layer": int(losses.index[int(losses.to_numpy().argmax())]),
                "largest": float(losses.max()),
                "layer1": float(losses.loc[LAYER]),
                "gains": int((losses < 0).sum()),
            }
        )
    return pd.DataFrame(found)


def _sweep(layer_ablation: pd.DataFrame, sinks: pd.DataFrame) -> pd.DataFrame:
    """Delta nats by model, part and layer."""
    parts = []
    for ablation, condition in ABLATIONS.items():
        frame = of_pair(sinks if ablation == "bos_mlp" else layer_ablation)
        rows = frame[(frame["metric"] == "delta_nats") & (frame["condition"] == condition)]
        parts.append(rows[rows["layer"].notna()].assign(ablation=ablation))
    sweep = pd.concat(parts, ignore_index=True)
    return sweep.assign(layer=sweep["layer"].astype(int))


def lab_massive(massive_values: pd.DataFrame) -> pd.DataFrame:
    """Massive values of a model, mean over texts, by tensor and threshold, over training seeds.

    A dimension of a head is massive when its norm over the sequence is above `threshold` times the mean of its layer.
    `texts` is the number of texts of each model.
    """
    pair = of_pair(massive_values)
    names = pair["condition"].str.extract(r"^pre lambda=(?P<threshold>[0-9.]+)$")["threshold"]
    tensors = pair["metric"].str.extract(r"^massive_total_(?P<tensor>[qkv])$")["tensor"]
    chosen = names.notna() & tensors.notna() & (pair["unit_id"] == "")
    rows = pair[chosen].assign(threshold=names[chosen].astype(float), tensor=tensors[chosen].map(TENSORS))
    found = over_seeds(rows, ["tensor", "threshold"])
    found.insert(2, "texts", int(rows["n"].min()))
    return found
