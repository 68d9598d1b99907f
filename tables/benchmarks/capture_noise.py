"""Noise of a capture beside the spread over models, and how far this noise could change the metrics' correlations."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, percent, significant
from tables._house import metric


def table(capture_noise: pd.DataFrame) -> Table:
    """Return one row per metric present in both captures of the pair, grouped by outcome."""
    rows = capture_noise[capture_noise["noise_sd"].notna()].reset_index(drop=True)
    rows = rows.assign(name=rows["metric"].map(metric), group="Correlation with the " + rows["label"])
    is_bias = rows["metric"] == "bias_strength"
    rows.loc[is_bias, "name"] += " × 10,000"
    rows.loc[is_bias, ["noise_sd", "noise_least", "noise_most", "spread_sd"]] *= 1e4
    n = int(rows["n"].max())
    bias = rows[is_bias].iloc[0]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Metric"),
            Column("noise_sd", "sd", significant(2), group="Noise"),
            Column("noise_least", "least", significant(2), group="Noise"),
            Column("noise_most", "most", significant(2), group="Noise"),
            Column("spread_sd", "models", significant(2)),
            Column("reliability", "not noise", percent(0, share=True)),
            Column("r", "$r$", fixed(2)),
            Column("again_low", "low", fixed(2), group="Captured again"),
            Column("again_high", "high", fixed(2), group="Captured again"),
            Column("turns", "turns", percent(0, share=True), group="Captured again"),
            Column("r_corrected", "corrected", fixed(2), missing="noise alone would spread the models as far"),
        ],
        groups="group",
        caption=(
            f"Capture noise and correlations over the {n} models that the study compares [@shcherb2026]. Unit: one "
            "model. Noise: the difference of two captures of one network, over the square root of two, and what the "
            "rounding of the two leaves of it. Models: the standard deviation over models."
        ),
        short="Capture noise and correlations",
        note=(
            "Not noise: the share of the variance over models that noise does not explain. Captured again: the 95 % "
            "range of $r$ when every model is captured once more with such noise, and how often $r$ then has the other "
            "sign. Corrected: $r$ over the square root of the share. One pair fixes the noise up to a factor of "
            f"{rows['noise_high'].iloc[0] / rows['noise_sd'].iloc[0]:.0f} above and "
            f"{rows['noise_sd'].iloc[0] / rows['noise_low'].iloc[0]:.1f} below. "
            f"Given rounding, {100 * bias['reliability_least']:.0f} to {100 * bias['reliability_most']:.0f} % of the "
            "variance of the bias is not noise. Metrics that the pair lacks are left out."
        ),
    )
