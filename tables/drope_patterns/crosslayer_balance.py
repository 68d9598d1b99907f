"""Share of attention in each layer's output, by band of layers: printed and published."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed, integer, printed, sentences, signed

BANDS = {"0": "layer 0", "1": "layer 1", "2-31": "layers 2-31", "3-31": "layers 3-31", "0-31": "all layers"}


def table(
    drope_crosslayer: pd.DataFrame,
    balance_summary: pd.DataFrame,
    balance_tests: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Table:
    """Return one row per band of layers."""
    cells = drope_crosslayer.set_index(["layers", "positional", "metric"])["printed"]
    summary = balance_summary.set_index("layers")
    rows = []
    for band, name in BANDS.items():
        row = {"name": name, **summary.loc[band].to_dict()}
        for column, key in (
            ("shown_rope", (band, "RoPE", "attention_contribution")),
            ("shown_drope", (band, "DroPE", "attention_contribution")),
            ("shown_difference", (band, "DroPE", "difference_from_rope")),
        ):
            row[column] = cells.get(key, "")
        rows.append(row)
    test = pick(balance_tests, comparison="layers 2-31", test="paired_t")
    layer0, first_layers, later_layers = (summary.loc[band] for band in ("0", "0-1", "2-31"))
    unprinted = "The report prints no such band."
    return Table(
        rows=pd.DataFrame(rows),
        columns=[
            Column("name", "", sentences),
            Column("shown_rope", "RoPE", printed(), group="Printed", missing=unprinted),
            Column("shown_drope", "DroPE", printed(), group="Printed", missing=unprinted),
            Column("shown_difference", "difference", printed(), group="Printed", missing=unprinted),
            Column("mean_rope", "RoPE", fixed(1), group="Published, %"),
            Column("mean_drope", "DroPE", fixed(1), group="Published, %"),
            Column("mean_difference", "mean", signed(1), group="Difference, points"),
            Column("mean_absolute_difference", "absolute", fixed(1), group="Difference, points"),
            Column("largest_difference", "largest", signed(1), group="Difference, points"),
            Column("largest_difference_layer", "in layer", integer(), group="Difference, points"),
            Column("attention_ratio", "attention", fixed(2), group="Norm, DroPE/RoPE"),
            Column("mlp_ratio", "MLP", fixed(2), group="Norm, DroPE/RoPE"),
        ],
        caption=(
            "Attention's share of the summed norms that attention and MLP write: Section 10.3 of the report and the "
            "published "
            f"layers [@africa2026]. Unit: layer; means over {drope_protocols.set_index('experiment')['items']['9']}."
        ),
        short="Balance of attention and MLP by layer",
        note=[
            (
                f"Over layers 2 to 31 the difference is {test['estimate']:.1f} points (paired $t$ over {test['n']} "
                f"layers, 95 % interval {test['ci_low']:.1f} to {test['ci_high']:.1f}; layers are not independent "
                f"units); {later_layers['layers_above_five_points']} layers differ by more than five points. Layers 0 "
                f"and 1 hold {first_layers['total_share']:.0f} % of the summed absolute differences of all layers and "
                f"{first_layers['total_share_squared']:.0f} % of the squared ones."
            ),
            (
                "Ratios of norms are geometric means over layers. In layer 0 attention writes "
                f"{layer0['attention_ratio']:.1f} times as much in DroPE; its share falls since the MLP writes "
                f"{layer0['mlp_ratio']:.0f} times as much."
            ),
        ],
    )
