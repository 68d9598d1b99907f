"""Compare massive values with and without rotary positions: counts as reported, and by layer as published."""

import math

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.statistics import Estimate, Interval, frame, percent_change, welch_t_from_stats
from boundpaper.statistics.families import corrected

TENSORS = ("query", "key", "value")
REPORTED, PUBLISHED = "reported totals", "published layers"
SECTIONS = {REPORTED: "2 (Table 2.2)", PUBLISHED: "2.3 (layers)"}
FIRST_LATER_LAYER = 2  # the source contrasts layer 1 with layers 2 to 31
STATED_FALL = -60.0  # percent; the source states it for each later layer


def massive_layers(drope_published_series: pd.DataFrame) -> pd.DataFrame:
    """Return the number of massive values by tensor and layer for both models, from the published three-text run.

    `all` is the sum over the three tensors. `change` is DroPE's change from RoPE in percent, `share_*` the layer's
    share of the model's total for the tensor in percent, `more` the model with more massive values.
    """
    series = drope_published_series[drope_published_series["metric"].str.startswith("massive_count_")]
    table = series.assign(tensor=series["metric"].str.removeprefix("massive_count_"))
    table = table.pivot(index=["tensor", "layer"], columns="positional", values="value").reset_index()
    table.columns.name = None
    table = table.rename(columns={"RoPE": "rope", "DroPE": "drope"})[["tensor", "layer", "rope", "drope"]]
    totals = table.groupby("layer", as_index=False)[["rope", "drope"]].sum().assign(tensor="all")
    table = pd.concat([*(table[table["tensor"] == tensor] for tensor in TENSORS), totals], ignore_index=True)
    # means over three texts are thirds, whose printed sixteen digits may differ in the last place
    difference = (table["drope"] - table["rope"]).round(9)
    table["change"] = (100 * difference / table["rope"]).where(table["rope"] > 0)
    for model in ("rope", "drope"):
        table[f"share_{model}"] = 100 * table[model] / table.groupby("tensor")[model].transform("sum")
    table["more"] = ["DroPE" if gap > 0 else "RoPE" if gap < 0 else "equal" for gap in difference]
    table["note"] = ["" if count else "change: no massive value with rotary embedding" for count in table["rope"]]
    return table


def massive_layer_summary(massive_layers: pd.DataFrame) -> pd.DataFrame:
    """Return by tensor: counts in layer 1 and in later layers, and how many layers have more massive values in DroPE.

    `layer1_ratio` is DroPE over RoPE, `layer1_increase` this ratio minus 1; `later_*` are means and extremes over
    layers 2 to 31; `top_layer_drope` is the layer with the most massive values.
    """
    rows = []
    for tensor, table in massive_layers.groupby("tensor", sort=False):
        layers = table.set_index("layer")
        later_layers = layers[layers.index >= FIRST_LATER_LAYER]
        layer1 = layers.loc[1]
        drope_layers = [int(str(layer)) for layer in layers.index[layers["more"] == "DroPE"]]
        rows.append(
            {
                "tensor": tensor,
                "layer1_rope": layer1["rope"],
                "layer1_drope": layer1["drope"],
                "layer1_ratio": layer1["drope"] / layer1["rope"],
                "layer1_increase": layer1["drope"] / layer1["rope"] - 1,
                "layer1_share_rope": layer1["share_rope"],
                "layer1_share_drope": layer1["share_drope"],
                "later_layers": len(later_layers),
                **{
                    f"later_{name}_{model}": later_layers[model].agg(function)
                    for model in ("rope", "drope")
                    for name, function in (("mean", "mean"), ("low", "min"), ("high", "max"))
                },
                "later_change": 100 * (later_layers["drope"].sum() / later_layers["rope"].sum() - 1),
                "later_layers_fallen_by_stated": int((later_layers["change"] <= STATED_FALL).sum()),
                "layers_drope_more": len(drope_layers),
                "layers_equal": int((layers["more"] == "equal").sum()),
                "layers_with_more": " ".join(map(str, drope_layers)),
                "top_layer_drope": int(str(layers["drope"].idxmax())),
                "total_rope": layers["rope"].sum(),
                "total_drope": layers["drope"].sum(),
            }
        )
    return pd.DataFrame(rows)


def massive_counts(
    drope_massive_counts: pd.DataFrame, massive_layer_summary: pd.DataFrame, drope_protocols: pd.DataFrame
) -> pd.DataFrame:
    """Return massive values of both models by tensor in the two runs, with DroPE's change from RoPE in percent.

    `change_low` and `change_high` bound the change given the rounding of the means; `change_printed` is the source's.
    Standard deviations are over texts and reported for the ten-text run only.
    """
    counts = drope_massive_counts.set_index(["tensor", "positional", "metric"])
    cells = counts[["value", "low", "high"]].to_dict("index")
    rows: list[dict[str, object]] = []
    for tensor in TENSORS:
        rope, drope = (cells[(tensor, model, "count_mean")] for model in PAIR)
        change = percent_change(Interval(rope["low"], rope["high"]), Interval(drope["low"], drope["high"]))
        rows.append(
            {
                "tensor": tensor,
                "run": REPORTED,
                **_texts_and_precision(drope_protocols, REPORTED),
                "rope_mean": rope["value"],
                "rope_sd": cells[(tensor, "RoPE", "count_sd")]["value"],
                "drope_mean": drope["value"],
                "drope_sd": cells[(tensor, "DroPE", "count_sd")]["value"],
                "change": 100 * (drope["value"] / rope["value"] - 1),
                "change_low": change.low,
                "change_high": change.high,
                "change_printed": cells[(tensor, "DroPE", "change_from_rope")]["value"],
                "note": "sd over texts, its divisor n as the source's script has it",
            }
        )
    for _, summary in massive_layer_summary.iterrows():
        change_of_total = 100 * (summary["total_drope"] / summary["total_rope"] - 1)
        rows.append(
            {
                "tensor": summary["tensor"],
                "run": PUBLISHED,
                **_texts_and_precision(drope_protocols, PUBLISHED),
                "rope_mean": summary["total_rope"],
                "drope_mean": summary["total_drope"],
                "change": change_of_total,
                "change_low": change_of_total,
                "change_high": change_of_total,
                "note": "rope_sd, drope_sd: not published; change_printed: the source prints none",
            }
        )
    return pd.DataFrame(rows)


def _texts_and_precision(protocols: pd.DataFrame, run: str) -> dict[str, object]:
    """Return the number of texts and the precision of a run."""
    row = protocols[protocols["section"] == SECTIONS[run]].iloc[0]
    return {"texts": int(str(row["items"]).split()[0]), "precision": row["precision"]}


def massive_tests(massive_counts: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Test RoPE against DroPE by tensor: Welch's test from the reported means and deviations, Holm over tensors.

    The texts are the same for both models, but no counts per text are published, so the pairing cannot be used. The
    source's script takes deviations with the divisor n (`script_facts`, deviations_experiment_1); they are scaled to
    n - 1.
    """
    reported_counts = massive_counts[massive_counts["run"] == REPORTED]
    tests: list[Estimate] = []
    for _, row in reported_counts.iterrows():
        n = int(row["texts"])
        scale = math.sqrt(n / (n - 1))
        test = welch_t_from_stats(
            *(float(row["drope_mean"]), float(row["drope_sd"]) * scale, n),
            *(float(row["rope_mean"]), float(row["rope_sd"]) * scale, n),
            study="massive_tests",
            comparison=str(row["tensor"]),
            unit="text",
            names=("DroPE", "RoPE"),
            effect="hedges_g",
            note=(
                "DroPE minus RoPE; printed sd, divisor n as the source's script has it, scaled to n - 1; "
                "the same texts in both arms, unpaired; "
                "one model per side, of the same pretrained weights: the test is about further texts, not models"
            ),
        )
        tests.append(test)
    return frame(corrected(tests, test_families, "massive_tests"))
