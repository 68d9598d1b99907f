"""Compare the balance of attention and MLP by layer, with and without rotary positions: is the change local?"""

import numpy as np
import pandas as pd

from boundpaper.statistics import Estimate, attach, frame, paired_t, pearson
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import dependent_units
from boundpaper.store.frames import wide

EXPERIMENT = "exp9_crosslayer_balance"
MODELS = {"rope": "RoPE", "drope": "DroPE"}
BANDS = {"0": (0, 0), "1": (1, 1), "0-1": (0, 1), "2-31": (2, 31), "3-31": (3, 31), "0-31": (0, 31)}
HALF = 50.0


def balance_layers(drope_published_series: pd.DataFrame) -> pd.DataFrame:
    """Return mean output norms of attention and MLP in every layer, and attention's share of the sum in percent.

    `difference` is DroPE minus RoPE in points; `attention_ratio` and `mlp_ratio` are the norms of DroPE over RoPE;
    `inverted` says whether attention is the larger part in exactly one model.
    """
    series = drope_published_series[drope_published_series["experiment"] == EXPERIMENT]
    table = wide(series, by=["positional", "layer"]).pivot(index="layer", columns="positional")
    columns: dict[str, pd.Series] = {}
    for component, metric in (("attention", "attention_norm"), ("mlp", "mlp_norm")):
        for model, name in MODELS.items():
            columns[f"{component}_{model}"] = table[(metric, name)]
    for model in MODELS:
        attention, mlp = columns[f"attention_{model}"], columns[f"mlp_{model}"]
        columns[f"share_{model}"] = 100 * attention / (attention + mlp)
    columns["difference"] = columns["share_drope"] - columns["share_rope"]
    columns["attention_ratio"] = columns["attention_drope"] / columns["attention_rope"]
    columns["mlp_ratio"] = columns["mlp_drope"] / columns["mlp_rope"]
    columns["inverted"] = (columns["share_rope"] > HALF) != (columns["share_drope"] > HALF)
    return pd.DataFrame(columns).reset_index()


def balance_summary(balance_layers: pd.DataFrame, drope_crosslayer: pd.DataFrame) -> pd.DataFrame:
    """Return attention's share over bands of layers, with the printed values and the models' difference.

    Shares are in percent, differences in points; standard deviations are over layers (divisor n - 1). `total_share` and
    `total_share_squared` are the band's part of the summed absolute and squared differences of all layers, in percent.
    """
    cells = drope_crosslayer.set_index(["layers", "positional", "metric"])["value"].to_dict()
    all_gaps = balance_layers["difference"]
    rows = []
    for band, (first, last) in BANDS.items():
        layers = balance_layers[balance_layers["layer"].between(first, last)].set_index("layer")
        gaps = layers["difference"]
        largest = int(layers["difference"].abs().to_numpy().argmax()) + first
        is_single = len(layers) == 1
        notes = ["sd_rope, sd_drope: one layer"] if is_single else []
        if (band, "RoPE", "attention_contribution") not in cells:
            notes.append("printed_*: the source prints no such band")
        rows.append(
            {
                "layers": band,
                "n": len(layers),
                **{f"mean_{model}": layers[f"share_{model}"].mean() for model in MODELS},
                **{f"sd_{model}": None if is_single else layers[f"share_{model}"].std() for model in MODELS},
                **{f"low_{model}": layers[f"share_{model}"].min() for model in MODELS},
                **{f"high_{model}": layers[f"share_{model}"].max() for model in MODELS},
                "mean_difference": gaps.mean(),
                "mean_absolute_difference": gaps.abs().mean(),
                "largest_difference": float(gaps.loc[largest]),
                "largest_difference_layer": largest,
                "layers_above_five_points": int((gaps.abs() > 5).sum()),
                "layers_within_half_point": int((gaps.abs() <= 0.5).sum()),
                "layers_inverted": int(layers["inverted"].sum()),
                "attention_ratio": float(np.exp(np.log(layers["attention_ratio"]).mean())),
                "mlp_ratio": float(np.exp(np.log(layers["mlp_ratio"]).mean())),
                "total_share": 100 * gaps.abs().sum() / all_gaps.abs().sum(),
                "total_share_squared": 100 * (gaps**2).sum() / (all_gaps**2).sum(),
                "printed_rope": cells.get((band, "RoPE", "attention_contribution")),
                "printed_drope": cells.get((band, "DroPE", "attention_contribution")),
                "printed_difference": cells.get((band, "DroPE", "difference_from_rope")),
                "note": "; ".join(notes),
            }
        )
    return pd.DataFrame(rows)


def balance_tests(balance_layers: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Test DroPE against RoPE over the later layers: difference of attention's share in points, and correlation.

    The tests run over layers 2 to 31, and again without the layer with the largest difference. Layers of one network
    are not independent units: each row has a guard that says so, and no p is corrected.
    """
    later_layers = balance_layers[balance_layers["layer"] >= 2]
    largest = int(later_layers["layer"].iloc[int(later_layers["difference"].abs().to_numpy().argmax())])
    tests: list[Estimate] = []
    for name, layers in (
        ("layers 2-31", later_layers),
        (f"layers 2-31 without layer {largest}", later_layers[later_layers["layer"] != largest]),
    ):
        guard = dependent_units([str(layer) for layer in layers["layer"]], ["net"] * len(layers), "one residual stream")
        drope, rope = layers["share_drope"], layers["share_rope"]
        for test, note in ((paired_t, "DroPE minus RoPE, points"), (pearson, "")):
            estimate = test(
                drope, rope, study="balance_tests", comparison=name, unit="layer", note=note, names=("DroPE", "RoPE")
            )
            tests.append(attach(estimate, guard))
    return frame(corrected(tests, test_families, "balance_tests"))


def figure_g_layers(drope_figures: pd.DataFrame, balance_layers: pd.DataFrame) -> pd.DataFrame:
    """Return the shares drawn in the source's figure of the balance, and the published shares, by layer, in percent.

    `repeats` says whether a coordinate equals the one four layers before it.
    """
    coordinates = drope_figures[drope_figures["figure"] == "G"]
    rows = []
    for model, name in MODELS.items():
        points = coordinates[coordinates["series"] == name].astype({"x": int}).set_index("x")["value"]
        for layer, share in zip(balance_layers["layer"], balance_layers[f"share_{model}"], strict=True):
            rows.append(
                {
                    "positional": name,
                    "layer": layer,
                    "drawn": points[layer],
                    "published": share,
                    "difference": points[layer] - share,
                    "repeats": bool(layer >= 6 and points[layer] == points[layer - 4]),
                }
            )
    return pd.DataFrame(rows)
