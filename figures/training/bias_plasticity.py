"""The plasticity drop against the bias per token, per window, and over one window for all."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points
from boundpaper.store.frames import pick


def _drawn(rows: pd.DataFrame, bias: str, drop: str, scale: float = 1.0) -> pd.DataFrame:
    """`rows` with what is drawn: the bias `x`, its ends `low` and `high` by rounding, and the drop `y`."""
    ends = {end: scale * rows[f"{bias}_{end}"] for end in ("low", "high")}
    return rows.assign(x=scale * rows[bias], y=rows[drop], **ends)


def figure(
    bias_plasticity: pd.DataFrame,
    training_comparison: pd.DataFrame,
    bias_plasticity_tests: pd.DataFrame,
    families: pd.DataFrame,
) -> Figure:
    """Return the figure."""
    models = bias_plasticity["kind"] == "model"
    same = training_comparison[training_comparison["drop_same"].notna()]
    window = int(same["captured_context"].min())
    tests = {
        (unit, group): pick(bias_plasticity_tests, comparison=f"per {unit}, {group}", test="pearson")["estimate"]
        for unit in ("token", "window")
        for group in ("captured models", "checkpoints")
    }
    equal = pick(bias_plasticity_tests, comparison="per token, models over the same window", test="pearson")
    shown = (
        (
            _drawn(bias_plasticity, "bias_strength", "ap_drop", 1e3),
            "own window, per token",
        ),
        (
            _drawn(bias_plasticity, "bias_window", "ap_drop"),
            "the same, per window",
        ),
        (_drawn(same, "bias_strength", "drop_same", 1e3), f"first {window // 1024}K of all"),
    )
    labels = ("bias per token ($\\times 10^{-3}$)", "bias per window", "bias per token ($\\times 10^{-3}$)")
    return Figure(
        panels=[
            Panel(
                series=[
                    Points(
                        x=rows["x"],
                        y=rows["y"],
                        x_low=rows["low"],
                        x_high=rows["high"],
                        entity=entity,
                        legend=position == 0,
                        origin="reported",
                    )
                    for family, entity in zip(families["family"], families["entity"], strict=True)
                    if len(rows := data[data["family"] == family])
                ],
                x=Axis(label=label, scale="log")
                if position == 0
                else Axis(label=label, low=0, high=1.08 * data["high"].max()),
                y=Axis(label="plasticity drop", zero=True),
                title=title,
            )
            for position, ((data, title), label) in enumerate(zip(shown, labels, strict=True))
        ],
        columns=3,
        height=36,
        letters=True,
        caption=(
            f"Plasticity drop against the bias [@shcherb2026]: {int(models.sum())} captured models and "
            f"{int((~models).sum())} checkpoints of SmolLM3-3B, each over its own window, with the bias (a) per token "
            f"and (b) per window; (c) {len(same)} models, SmolLM3 at its last checkpoint, over {window:,} tokens."
        ),
        note=(
            f"Pearson's $r$, models and checkpoints: (a) ${tests['token', 'captured models']:.2f}$ and "
            f"${tests['token', 'checkpoints']:.2f}$, (b) ${tests['window', 'captured models']:.2f}$ and "
            f"${tests['window', 'checkpoints']:.2f}$; (c) ${equal['estimate']:.2f}$. Checkpoints are states of "
            "one run. Unit: one model or checkpoint, mean over heads; the study gives no uncertainty. Bars: what "
            "the rounding of the bias leaves open."
        ),
        short="The plasticity drop against the bias per token and per window",
    )
