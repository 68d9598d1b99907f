"""Recompute the recovery of plasticity by model and by layer, and compare two captures of one text network."""

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, agreement, mean
from boundpaper.store.frames import wide
from boundpaper.typeset.numbers import finite as decimal

DIP, LEVEL = (4, 5), (6, 7)  # deciles, counted from 0
CROSS = "cross-attention"
PAIRS = ("d01", "d45", "d67", "d89")
TENTHS = 10


def nope_recovery_recomputed(
    reported_deciles: pd.DataFrame,
    decile_profiles: pd.DataFrame,
    nope_recovery: pd.DataFrame,
    nope_layer_kinds: pd.DataFrame,
    published_facts: pd.DataFrame,
) -> pd.DataFrame:
    """Return dip, later level and recovery of every captured model, and the recovery printed for ten of them.

    `dip` is the mean of deciles 4 and 5 (counted from 0), `level` the mean of deciles 6 and 7, `recovery` their
    difference; `_low` and `_high` are the range allowed by rounding of the deciles. `reported` is the printed recovery;
    `agreement` compares it with `recovery`. `draw_up` is the largest rise between any two deciles, `rise_from` and
    `rise_to` its deciles, `rise_from_tokens` and `rise_to_tokens` the start of the first and the end of the second.
    `text_layers` excludes layers that do not run on text, and `network` names the model with the same text weights.
    """
    origin = published_facts.set_index("fact").loc["llama32_vision_text"]
    text_layers = int((nope_layer_kinds["kind"] != CROSS).sum())
    printed_recoveries = nope_recovery[nope_recovery["metric"] == "recovery"].set_index("model")
    rows = []
    for _, profile in decile_profiles.iterrows():
        model = str(profile["model"])
        cells = reported_deciles[reported_deciles["model"] == model].set_index("decile")
        dip, level = (
            mean(Interval(_number_in_cell(cells.at[d, "low"]), _number_in_cell(cells.at[d, "high"])) for d in pair)
            for pair in (DIP, LEVEL)
        )
        interval, recovery = level - dip, float(profile["recovery"])
        row = {
            "model": model,
            "display_name": profile["display_name"],
            "family": profile["family"],
            "layers": profile["layers"],
            "text_layers": text_layers if model == origin["subject"] else profile["layers"],
            "network": origin["printed"] if model == origin["subject"] else model,
            "captured_context": profile["captured_context"],
            "dip": dip.middle,
            "level": level.middle,
            "recovery": recovery,
            "recovery_low": round(interval.low, 12),
            "recovery_high": round(interval.high, 12),
            "recovers": recovery > 0,
            **{name: profile[name] for name in ("draw_up", "draw_up_low", "draw_up_high", "distance", "shape")},
        }
        notes = []
        if model in printed_recoveries.index:
            cell = printed_recoveries.loc[model]
            value, digits = _number_in_cell(cell["value"]), int(_number_in_cell(cell["decimals"]))
            row |= {"reported": value, "agreement": agreement(recovery, interval, value, digits)}
        else:
            row |= {"reported": None, "agreement": ""}
            notes.append("reported, agreement: not among the models of the study")
        if profile["draw_up"] > 0:
            first, last = _largest_rise([float(profile[f"d{number}"]) for number in range(TENTHS)])
            width = float(profile["captured_context"]) / TENTHS
            row |= {"rise_from": first, "rise_to": last, "rise_from_tokens": first * width}
            row |= {"rise_to_tokens": (last + 1) * width}
        else:
            row |= dict.fromkeys(("rise_from", "rise_to", "rise_from_tokens", "rise_to_tokens"))
            notes.append("rise_from, rise_to: no decile lies above an earlier one")
        rows.append({**row, "note": "; ".join(notes)})
    return pd.DataFrame(rows)


def _largest_rise(values: list[float]) -> tuple[int, int]:
    """Return the deciles of the largest rise from an earlier decile to a later one."""
    pairs = [(i, j) for j in range(len(values)) for i in range(j)]
    return max(pairs, key=lambda pair: values[pair[1]] - values[pair[0]])


def nope_layer_cells(nope_layers: pd.DataFrame, nope_layer_kinds: pd.DataFrame) -> pd.DataFrame:
    """Return the layers with the largest printed recovery, with the recovery recomputed from printed deciles.

    `recovery_recomputed` is d67 - d45, with the range allowed by rounding; `text_layer` is the index among layers
    that run on text, so equal indices have equal weights in both models; `group` and `adjacency` give the position
    relative to cross-attention layers; `below_dip` says whether the last deciles are below the dip.
    """
    numbers = wide(nope_layers[nope_layers["metric"] != "adjacency"], by=["model", "layer"])
    adjacent = nope_layers[nope_layers["metric"] == "adjacency"].set_index(["model", "layer"])["printed"]
    vision_models = set(nope_layers.loc[nope_layers["metric"] == "adjacency", "model"])
    places = _groups_and_indices(nope_layer_kinds)
    rows = []
    for _, layer in numbers.iterrows():
        model, index = str(layer["model"]), int(layer["layer"])
        dip, level, printed = (_cell(nope_layers, model, index, metric) for metric in ("d45", "d67", "recovery"))
        interval = Interval(level["low"], level["high"]) - Interval(dip["low"], dip["high"])
        value = level["value"] - dip["value"]
        has_vision = model in vision_models
        if has_vision and index not in places:
            raise DataError(f"nope_layers: layer {index} of {model} is a cross-attention layer; remove its rows")
        group, text_layer = places[index] if has_vision else ("", index)
        rows.append(
            {
                "model": model,
                "layer": index,
                "text_layer": text_layer,
                **{pair: layer[pair] for pair in PAIRS},
                "recovery": layer["recovery"],
                "recovery_recomputed": round(value, 12),
                "recovery_low": round(interval.low, 12),
                "recovery_high": round(interval.high, 12),
                "agreement": agreement(value, interval, printed["value"], int(printed["decimals"])),
                "below_dip": bool(layer["d89"] < layer["d45"]),
                "adjacency": adjacent[(model, index)] if has_vision else "",
                "group": group,
                "note": "" if has_vision else "adjacency, group: the model has no cross-attention layers",
            }
        )
    return pd.DataFrame(rows)


def _number_in_cell(cell: object) -> float:
    """Return a cell as a number; raises DataError if it has no number."""
    return float(decimal(cell))


def _cell(layers: pd.DataFrame, model: str, layer: int, metric: str) -> dict[str, float]:
    """Return value, decimals and rounding interval of one printed cell."""
    rows = layers[(layers["model"] == model) & (layers["layer"] == layer) & (layers["metric"] == metric)]
    if len(rows) != 1:
        raise DataError(f"nope_layers has {len(rows)} cells of {metric} of layer {layer} of {model}; give one")
    if rows["value"].isna().any():
        raise DataError(
            f"nope_layers has no value of {metric} of layer {layer} of {model}; give it, or leave out the layer"
        )
    return {column: _number_in_cell(rows[column].iloc[0]) for column in ("value", "decimals", "low", "high")}


def _groups_and_indices(kinds: pd.DataFrame) -> dict[int, tuple[str, int]]:
    """Return the group of each self-attention layer and its index among these layers, by layer."""
    cross = {int(layer) for layer in kinds.loc[kinds["kind"] == CROSS, "layer"]}
    layers = sorted(int(layer) for layer in kinds.loc[kinds["kind"] != CROSS, "layer"])
    return {
        layer: ("after" if layer - 1 in cross else "before" if layer + 1 in cross else "far", index)
        for index, layer in enumerate(layers)
    }


def nope_groups(nope_layer_kinds: pd.DataFrame, nope_adjacency_layers: pd.DataFrame) -> pd.DataFrame:
    """Return each self-attention layer's index among such layers, its group by adjacency, and the study's group."""
    groups = nope_adjacency_layers.set_index("layer")["group"].to_dict()
    return pd.DataFrame(
        {"layer": layer, "text_layer": index, "group": group, "listed": groups.get(layer, "far")}
        for layer, (group, index) in _groups_and_indices(nope_layer_kinds).items()
    )


def nope_layer_pairs(
    nope_layer_cells: pd.DataFrame, nope_extremes: pd.DataFrame, nope_groups: pd.DataFrame
) -> pd.DataFrame:
    """Return text layers with printed values in both models, that is, the same weights captured twice.

    For Llama-3.1-8B the plasticity over the context is bounded (`overall_low`, `overall_high`) from the four printed
    pairs of deciles, assuming that the fifth pair is between the smallest and largest of them; `least_range` is the
    range of the printed pairs. For Llama-3.2-11B-Vision `ap_overall` is printed; `gap` is its distance from these
    bounds.
    """
    text_layers = nope_groups.set_index("layer")["text_layer"]
    overall = nope_extremes[nope_extremes["metric"] == "ap_overall"]
    overall = overall.assign(text_layer=overall["layer"].map(text_layers)).set_index("text_layer")
    rows = []
    for _, layer in nope_layer_cells[nope_layer_cells["group"] == ""].iterrows():
        index = int(layer["text_layer"])
        if index not in overall.index:
            continue
        values = [float(layer[pair]) for pair in PAIRS]
        low, high = ((sum(values) + end) / (len(values) + 1) for end in (min(values), max(values)))
        cell = overall.loc[index]
        rows.append(
            {
                "text_layer": index,
                "layer": int(_number_in_cell(cell["layer"])),
                "overall_low": low,
                "overall_high": high,
                "least_range": max(values) - min(values),
                "recovery": layer["recovery"],
                "ap_overall": _number_in_cell(cell["value"]),
                "category": cell["category"],
                "gap": max(low - _number_in_cell(cell["value"]), _number_in_cell(cell["value"]) - high, 0.0),
            }
        )
    return pd.DataFrame(rows)


def nope_twins(
    nope_recovery_recomputed: pd.DataFrame, decile_profiles: pd.DataFrame, nope_stated: pd.DataFrame
) -> pd.DataFrame:
    """Return the difference between two captures of one text network: a measure of noise, unreported in the study.

    Rows are quantities in units of plasticity: differences in the deciles, in the recovery (with the range allowed by
    rounding) and in the draw-up, and the threshold above which the study says that a layer recovers.
    """
    twins = nope_recovery_recomputed[nope_recovery_recomputed["network"].duplicated(keep=False)]
    if len(twins) != 2:
        raise DataError(f"{len(twins)} models share the weights of their text network; exactly two are needed")
    profiles = decile_profiles.set_index("model").loc[twins["model"]]
    gaps = [abs(profiles[f"d{number}"].iloc[0] - profiles[f"d{number}"].iloc[1]) for number in range(TENTHS)]
    high, low = (row for _, row in twins.sort_values("recovery", ascending=False).iterrows())
    interval = Interval(high["recovery_low"], high["recovery_high"]) - Interval(
        low["recovery_low"], low["recovery_high"]
    )
    threshold = nope_stated.set_index("statement").loc["finding_2_threshold", "value"]
    recovery = float(high["recovery"] - low["recovery"])
    draw_up = float(high["draw_up"] - low["draw_up"])
    rows = [
        ("decile_largest", max(gaps), None, None),
        ("decile_mean", sum(gaps) / len(gaps), None, None),
        ("recovery", recovery, round(interval.low, 12), round(interval.high, 12)),
        ("draw_up", draw_up, None, None),
        ("threshold", _number_in_cell(threshold), None, None),
    ]
    table = pd.DataFrame(rows, columns=["quantity", "value", "low", "high"])
    return table.assign(
        note=[
            "" if low is not None else "low, high: the rounding is followed for the recovery only"
            for _, _, low, _ in rows
        ]
    )
