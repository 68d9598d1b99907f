"""Compare a pretrained model on texts that begin with its BOS token or with a word: sinks, ablations, rotation."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.studies.pretrained._by_text import TextQuantity, values_by_text
from analysis.studies.pretrained._costs import cost
from analysis.studies.pretrained._named import display_names, table_of_rows
from boundpaper.errors import DataError
from boundpaper.statistics.locations.student import student_interval

STARTS = {"word": "-word", "token": "-bos"}  # start of a text, and ending of the measurement's name
DIFFERENCE = "difference"
UNROTATED = "scores without rotation"  # condition of the measurement
RATE = "rows=all tau=0.3"
ALL_LAYERS = "layer: of all layers"
GIVEN = "low, high: a length that was given"
LAYERS_NOTE = "low, high: taken over layers, no spread over texts is kept"
RERUN = "python build.py run --recipe artifacts/recipes/beginning.yaml"


BY_TEXT = (
    TextQuantity("first_attention", "attention_patterns", "first_attention", "", 100.0),
    TextQuantity("first_unrotated", "attention_patterns", "first_attention", UNROTATED, 100.0),
    TextQuantity("local_attention", "attention_patterns", "local_attention", "", 100.0),
    TextQuantity("local_unrotated", "attention_patterns", "local_attention", UNROTATED, 100.0),
    TextQuantity("sink_rate", "sinks", "sink_rate", RATE, 100.0),
    TextQuantity("value_ratio", "bos_value", "value_ratio", "", 1.0),
)
ROTATION = {
    "first_change": ("first_unrotated", "first_attention"),
    "local_change": ("local_unrotated", "local_attention"),
}
COSTS = {
    "mlp_matching": ("sinks", "bos_mlp_matching"),
    "mlp_best": ("sinks", "bos_mlp_best"),
    "values_all": ("bos_value", "bos_value_all"),
    "values_spike": ("bos_value", "bos_value_spike"),
}


def pretrained_beginning(
    attention_patterns: pd.DataFrame,
    sinks: pd.DataFrame,
    bos_value: pd.DataFrame,
    pretrained_models: pd.DataFrame,
    subjects: pd.DataFrame,
) -> pd.DataFrame:
    """Return quantities for both starts of a text, one row per model, quantity and start, and the difference by text.

    Intervals are Student's over texts. `difference` is token minus word over the same parts of texts (shifted by up to
    one token per part). `first_change` and `local_change` are the changes of attention, by text, when it is recomputed
    without rotation; `mlp_matching`, `mlp_best`, `values_all` and `values_spike` are the costs in nats per token of
    ablations at the first token, on texts not used for choosing layers; `tokens` is the length of a text. Raises
    DataError if no pretrained model was measured with both starts, or the texts differ.
    """
    tables = {"attention_patterns": attention_patterns, "sinks": sinks, "bos_value": bos_value}
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        if not all((sinks["model"] == model + ending).any() for ending in STARTS.values()):
            continue
        facts = {"model": model, "display_name": name}
        series = {
            quantity.name: {
                start: _values_by_text(tables[quantity.table], model + ending, quantity)
                for start, ending in STARTS.items()
            }
            for quantity in BY_TEXT
        }
        for key, (unrotated, rotated) in ROTATION.items():
            series[key] = {start: series[unrotated][start] - series[rotated][start] for start in STARTS}
        for key, by_start in series.items():
            word, token = by_start["word"], by_start["token"]
            if list(word.index) != list(token.index):
                raise DataError(f"{model}: texts with and without the beginning token differ; measure both: {RERUN}")
            for start, values in {**by_start, DIFFERENCE: token - word}.items():
                rows.append({**facts, "quantity": key, "start": start, **_mean_columns(values.to_numpy(dtype=float))})
        for start, ending in STARTS.items():
            sink_rows = sinks[(sinks["model"] == model + ending) & sinks["head"].isna() & (sinks["unit_id"] == "")]
            ratios: Any = sink_rows[(sink_rows["metric"] == "first_ratio") & sink_rows["layer"].notna()]
            peak = ratios.loc[ratios["value"].astype(float).idxmax()]
            rows.append({**facts, "quantity": "largest_ratio", "start": start, **_single_value(peak["value"])})
            rows.append({**facts, "quantity": "largest_ratio_layer", "start": start, **_single_value(peak["layer"])})
            rows.append(
                {**facts, "quantity": "tokens", "start": start, **_single_value(_text_length(sink_rows), GIVEN)}
            )
            for key, (source, condition) in COSTS.items():
                cells = tables[source]
                cells = cells[(cells["model"] == model + ending) & (cells["condition"] == condition)]
                if costs := cost(cells):
                    rows.append({**facts, "quantity": key, "start": start, **costs})
    absence = f"sinks has no pretrained model measured with and without its beginning token; run: {RERUN}"
    columns = "model display_name quantity start value low high layer n note".split()
    table = table_of_rows(rows, absence, columns).fillna({"note": ""})
    return table.assign(note=table["note"].mask((table["note"] == "") & table["layer"].isna(), ALL_LAYERS))


def pretrained_sweeps(
    sinks: pd.DataFrame, bos_value: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the cost in nats per token of zeroing the first token's MLP output or values in one layer, by layer.

    `peak` is the largest ratio of the first token's norm to the others' after any layer when that layer's MLP output is
    zeroed, on the texts for choosing layers; `usual_peak` is this ratio in the unchanged model. Raises DataError if no
    pretrained model has rows for every layer.
    """
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        sink_rows = sinks[sinks["model"] == model + STARTS["token"]]
        peaks: Any = sink_rows[sink_rows["metric"] == "bos_peak"].set_index(["condition", "layer"])["value"]
        for site, table, condition in (
            ("mlp", sink_rows, "sweep_bos_mlp"),
            ("values", bos_value[bos_value["model"] == model + STARTS["token"]], "sweep_bos_value"),
        ):
            sweep = table[table["condition"] == condition]
            for layer, cells in sweep.groupby("layer"):
                row = {"model": model, "display_name": name, "part": site, **(cost(cells) or {}), "layer": layer}
                if site != "mlp":
                    row["note"] = "; ".join(filter(None, [row["note"], "peak, usual_peak: of MLP outputs only"]))
                else:
                    row |= {
                        "peak": float(peaks["sweep_bos_mlp", layer]),
                        "usual_peak": float(peaks["baseline"].iloc[0]),
                    }
                rows.append(row)
    columns = "model display_name part layer value low high peak usual_peak n note".split()
    absence = f"sinks has no pretrained model with rows for every layer; run: {RERUN}"
    return table_of_rows(rows, absence, columns).fillna({"note": ""})


def _values_by_text(table: pd.DataFrame, model: str, quantity: TextQuantity) -> pd.Series:
    """Return the values by text; raises DataError if there are none."""
    values = values_by_text(table, model, quantity)
    if values.empty:
        raise DataError(f"{quantity.table}/{model} lacks {quantity.metric} per text; run: {RERUN}")
    return values


def _mean_columns(values: npt.NDArray[np.float64]) -> dict[str, Any]:
    low, high = student_interval(values) or (None, None)
    note = "" if low is not None else "low, high: one text, or texts that agree exactly"
    return {"value": float(values.mean()), "low": low, "high": high, "n": len(values), "note": note}


def _text_length(sinks: pd.DataFrame) -> int:
    """Return the number of tokens per text, read from the condition of the row of uniform attention."""
    lengths = sinks.loc[sinks["metric"] == "uniform_null", "condition"].str.extract(r"^T=(\d+)$")[0].dropna()
    if len(lengths) != 1:
        raise DataError(
            f"sinks has texts of {len(lengths)} lengths for one model, but only one length is allowed; run: {RERUN}"
        )
    return int(lengths.iloc[0])


def _single_value(value: Any, note: str = LAYERS_NOTE) -> dict[str, Any]:
    return {"value": float(value), "n": 0, "note": note}
