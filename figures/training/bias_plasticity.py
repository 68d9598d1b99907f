"""The plasticity drop against the bias per token, per window, and over one window for all."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points
from boundpaper.store.frames import pick
from boundpaper.typeset.wording import correlation_phrase

HIGHEST = 0.3
"""End of the axis of the drop, with room for the correlation above the points."""
FIRST, HALVES = 0.2, (0, 0.5, 1, 1.5)
"""Start of the logarithmic axis of the bias per token, and ticks of the linear one."""


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
    tests = bias_plasticity_tests[bias_plasticity_tests["test"] == "pearson"].set_index("comparison")
    run = {unit: float(tests["estimate"][f"per {unit}, checkpoints"]) for unit in ("token", "window")}
    own, equal = bias_plasticity, "per token, models over the same window"
    shown = (
        (_drawn(own, "bias_strength", "ap_drop", 1e3), "own window, per token", "per token, captured models"),
        (_drawn(own, "bias_window", "ap_drop"), "the same, per window", "per window, captured models"),
        (_drawn(same, "bias_strength", "drop_same", 1e3), f"first {window // 1024}K of all", equal),
    )
    labels = ("bias per token ($\\times 10^{-3}$)", "bias per window", "bias per token ($\\times 10^{-3}$)")
    return Figure(
        panels=[
            Panel(
                series=[
                    *(
                        Line(x=states["x"], y=states["y"], entity=entity, marks=False, dash="solid", legend=False)
                        for family, entity in zip(families["family"], families["entity"], strict=True)
                        if len(states := data[(data["family"] == family) & (data.get("kind", "model") != "model")])
                    ),
                    *(
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
                    ),
                ],
                x=Axis(label=label, scale="log", low=FIRST)
                if position == 0
                else Axis(label=label, low=0, high=1.08 * data["high"].max(), ticks=None if position == 1 else HALVES),
                y=Axis(label="plasticity drop", low=0, high=HIGHEST, ticks=(0, 0.1, 0.2, 0.3)),
                title=title,
                annotations=[
                    Annotation(x=0 if position else FIRST, y=0.95 * HIGHEST, text=f"models: {said}", anchor="right")
                    for row in [pick(bias_plasticity_tests, comparison=test, test="pearson")]
                    for said in [correlation_phrase(row).partition(", $p")[0]]
                ],
            )
            for position, ((data, title, test), label) in enumerate(zip(shown, labels, strict=True))
        ],
        columns=3,
        height=40,
        share_y=True,
        letters=True,
        caption=(
            f"Plasticity drop against the bias [@shcherb2026]: {int(models.sum())} captured models and "
            f"{int((~models).sum())} checkpoints of SmolLM3-3B (joined in their order), each over its own window, with "
            "the bias (a) per token "
            f"and (b) per window; (c) {len(same)} models, SmolLM3 at its last checkpoint, over {window:,} tokens."
        ),
        note=(
            "In the panels: Pearson's $r$ over models, with its 95 % interval. Over checkpoints alone it is "
            f"${run['token']:.2f}$ in (a) and ${run['window']:.2f}$ in (b); they are states of "
            "one run. Unit: one model or checkpoint, mean over heads; the study gives no uncertainty. Bars: what "
            "the rounding of the bias leaves open."
        ),
        short="The plasticity drop against the bias per token and per window",
    )
