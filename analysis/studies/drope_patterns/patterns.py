"""Compare attention to BOS and to neighbours, layer by layer, with and without rotary positions."""

import re
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from boundpaper.statistics import Estimate, attach, frame, paired_t, pearson
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import dependent_units
from boundpaper.store.frames import wide

KINDS = {"bos": "bos_attention", "local": "local_attention"}
EXPERIMENT = "exp7_attention_patterns"
MODELS = {"rope": "RoPE", "drope": "DroPE"}
RANGES = {"all layers": 0, "layers 2-31": 2}  # range of layers: its first layer


def attention_layers(drope_published_series: pd.DataFrame) -> pd.DataFrame:
    """Return attention to BOS and to neighbours by layer, in percent, and DroPE's difference from RoPE in points."""
    series = drope_published_series[drope_published_series["experiment"] == EXPERIMENT]
    table = wide(series, by=["positional", "layer"]).pivot(index="layer", columns="positional")
    columns = {}
    for kind, metric in KINDS.items():
        for model, name in MODELS.items():
            columns[f"{kind}_{model}"] = 100 * table[(metric, name)]
        columns[f"{kind}_difference"] = columns[f"{kind}_drope"] - columns[f"{kind}_rope"]
    return pd.DataFrame(columns).reset_index()


def attention_agreement(attention_layers: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of the two models' attention, over all layers and over layers 2 to 31.

    Means and standard deviations (divisor n - 1, over layers) are in percent, differences in points.
    `layers_drope_more` counts the layers where DroPE attends more, and `late_run` how many of the last layers in
    succession have differences of one sign.
    """
    rows = []
    for kind, (name, first) in product(KINDS, RANGES.items()):
        layers = attention_layers[attention_layers["layer"] >= first].set_index("layer")
        gaps = layers[f"{kind}_difference"]
        largest = int(gaps.abs().to_numpy().argmax()) + first
        rows.append(
            {
                "kind": kind,
                "layers": name,
                "n": len(layers),
                **{f"mean_{model}": layers[f"{kind}_{model}"].mean() for model in MODELS},
                **{f"sd_{model}": layers[f"{kind}_{model}"].std() for model in MODELS},
                "mean_difference": gaps.mean(),
                "mean_absolute_difference": gaps.abs().mean(),
                "largest_difference": float(gaps.loc[largest]),
                "largest_difference_layer": largest,
                "layers_drope_more": int((gaps > 0).sum()),
                "layers_drope_less": int((gaps < 0).sum()),
                "late_run": _late_run(gaps),
            }
        )
    return pd.DataFrame(rows)


def _late_run(gaps: pd.Series) -> int:
    agrees = (np.sign(gaps) == np.sign(gaps.iloc[-1])).to_numpy()[::-1]
    return len(agrees) if agrees.all() else int(np.argmin(agrees))


def attention_tests(attention_layers: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Test DroPE against RoPE over layers: paired differences in points, and correlation of the two profiles.

    Layers of one network are not independent units: each row has a guard that says so, and no p is corrected.
    """
    tests: list[Estimate] = []
    labels: dict[str, Any] = {"study": "attention_tests", "unit": "layer", "names": ("DroPE", "RoPE")}
    methods: tuple[tuple[Any, str], ...] = ((paired_t, "DroPE minus RoPE, points"), (pearson, ""))
    for (method, note), kind, (name, first) in product(methods, KINDS, RANGES.items()):
        layers = attention_layers[attention_layers["layer"] >= first]
        drope, rope = layers[f"{kind}_drope"], layers[f"{kind}_rope"]
        guard = dependent_units([str(layer) for layer in layers["layer"]], ["net"] * len(layers), "one residual stream")
        estimate = method(drope, rope, comparison=f"{kind}, {name}", note=note, **labels)
        tests.append(attach(estimate, guard))
    return frame(corrected(tests, test_families, "attention_tests"))


def attention_experiments(
    drope_attention: pd.DataFrame,
    drope_attention_layer1: pd.DataFrame,
    drope_bos_write: pd.DataFrame,
    drope_sink_rates: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> pd.DataFrame:
    """Return quantities that several experiments of the report print: attention to BOS and the share of sink heads.

    The experiments share the checkpoints and the threshold for sink heads, but not the texts. `difference` is
    DroPE minus RoPE in points.
    """
    layer1_sinks = drope_sink_rates[drope_sink_rates["layers"] == "1"]
    mean_sinks = drope_sink_rates[drope_sink_rates["layers"].str.lower().isin(["average", "mean", "all"])]
    quantities = (
        ("attention to BOS", "all layers", "7", drope_attention[drope_attention["metric"] == "bos_attention"]),
        ("attention to BOS", "all layers", "5", drope_bos_write[drope_bos_write["metric"] == "bos_attention_mass"]),
        ("sink heads", "all layers", "7", drope_attention[drope_attention["metric"] == "sink_heads"]),
        ("sink heads", "all layers", "4", mean_sinks),
        (
            "attention to BOS",
            "layer 1",
            "7",
            drope_attention_layer1[drope_attention_layer1["metric"] == "bos_attention"],
        ),
        ("sink heads", "layer 1", "4", layer1_sinks),
    )
    rows = []
    for quantity, layers, experiment, cells in quantities:
        values = cells.set_index("positional")["value"]
        protocol = drope_protocols[
            (drope_protocols["experiment"] == experiment)
            & ~drope_protocols["section"].isin(["5 (phase metrics)", "5 (tasks)"])
        ].iloc[0]
        rows.append(
            {
                "quantity": quantity,
                "layers": layers,
                "experiment": int(experiment),
                "texts": protocol["items"],
                "rope": values["RoPE"],
                "drope": values["DroPE"],
                "difference": values["DroPE"] - values["RoPE"],
            }
        )
    return pd.DataFrame(rows)


def uniform_bos_attention(drope_protocols: pd.DataFrame) -> pd.DataFrame:
    """Return attention to BOS under uniform attention, for the lengths of Experiment 7's sentences.

    Row t of T attends to t tokens, so the mean over rows is (1 + 1/2 + ... + 1/T) / T; in percent. It is not
    negligible in short texts, so a layer's attention to BOS must be compared with it.
    """
    items = str(drope_protocols[drope_protocols["experiment"] == "7"]["items"].iloc[0])
    match = re.search(r"(?<!\d)(\d++)-(\d++) tokens", items)
    if match is None:
        raise ValueError(f"drope_protocols: experiment 7 states {items!r}; state a range of tokens")
    return pd.DataFrame(
        [
            {"texts": name, "tokens": count, "bos": 100 * sum(1 / row for row in range(1, count + 1)) / count}
            for name, count in (("shortest", int(match[1])), ("longest", int(match[2])))
        ]
    )
