"""Plasticity drop against three forms of bias: per token, per window, and over one window common to all models."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points
from boundpaper.figures.spec import Anchor
from boundpaper.store.frames import pick
from boundpaper.typeset.wording import correlation_phrase, listed

HIGHEST = 0.38  # end of the axis of the drop, with room for the correlation above the points
FIRST = 0.2  # start of the logarithmic axis of the bias per token
STARTS: Anchor = "below"
ENDS: tuple[tuple[str, Anchor], ...] = (("end", "above right"), ("end", "below right"), ("SmolLM3", "above left"))
EQUAL = {unit: f"per token, {unit} over the same window" for unit in ("models", "networks")}


def _to_plot(rows: pd.DataFrame, bias: str, drop: str, scale: float = 1.0) -> pd.DataFrame:
    """Return `rows` with the values to plot: the bias `x`, its rounding range `low` to `high`, and the drop `y`."""
    ends = {end: scale * rows[f"{bias}_{end}"] for end in ("low", "high")}
    return rows.assign(x=scale * rows[bias], y=rows[drop], **ends)


def _checkpoint_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of SmolLM3: all its checkpoints or, in a table of models (with a column `kind`), its one row."""
    return rows[rows["kind"] != "model"] if "kind" in rows else rows[rows["family"] == "SmolLM3"]


def figure(
    bias_plasticity: pd.DataFrame,
    training_comparison: pd.DataFrame,
    bias_plasticity_tests: pd.DataFrame,
    families: pd.DataFrame,
) -> Figure:
    """Plot one panel per form of bias and one point per model or checkpoint."""
    models = bias_plasticity["kind"] == "model"
    same = training_comparison[training_comparison["drop_same"].notna()]
    window = int(same["captured_context"].min())
    absent = list(training_comparison.loc[training_comparison["drop_same"].isna(), "display_name"])
    tests = bias_plasticity_tests[bias_plasticity_tests["test"] == "pearson"].set_index("comparison")
    run = {unit: float(tests["estimate"][f"per {unit}, checkpoints"]) for unit in ("token", "window")}
    own, holm = bias_plasticity, tests["p_adjusted"]["per window, captured models"]
    views = (
        (
            _to_plot(own, "bias_strength", "ap_drop", 1e3),
            "own window, per token",
            {"models": "per token, captured models"},
        ),
        (_to_plot(own, "bias_window", "ap_drop"), "the same, per window", {"models": "per window, captured models"}),
        (_to_plot(same, "bias_strength", "drop_same", 1e3), f"first {window // 1024}K of all", EQUAL),
    )
    labels = ("bias per token ($\\times 10^{-3}$)", "bias per window", "bias per token ($\\times 10^{-3}$)")
    return Figure(
        panels=[
            Panel(
                series=[
                    *(
                        Line(x=states["x"], y=states["y"], entity=entity, marks=False, dash="solid", legend=False)
                        for family, entity in zip(families["family"], families["entity"], strict=True)
                        if len(states := _checkpoint_rows(data[data["family"] == family])) > 1
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
                x=Axis(label=label, low=0, high=1.08 * data["high"].max())
                if position
                else Axis(label=label, scale="log", low=FIRST, high=30),
                y=Axis(label="plasticity drop", low=0, high=HIGHEST, ticks=(0, 0.1, 0.2, 0.3)),
                title=title,
                annotations=[
                    *(
                        Annotation(x=0 if position else FIRST, y=y * HIGHEST, text=text, anchor="right")
                        for y, (unit, comparison) in zip((0.96, 0.885), comparisons.items(), strict=False)
                        for row in [pick(bias_plasticity_tests, comparison=comparison, test="pearson")]
                        for text in [f"{int(row['n'])} {unit}: {correlation_phrase(row).partition(', $p')[0]}"]
                    ),
                    *(
                        Annotation(x=state["x"], y=state["y"], text=name, anchor=anchor, entity="smollm3-3b")
                        for name, anchor, index in (("start", STARTS, 0), (*ENDS[position], -1))[position // 2 :]
                        for _, state in _checkpoint_rows(data).iloc[index:].head(1).iterrows()
                    ),
                ],
            )
            for position, ((data, title, comparisons), label) in enumerate(zip(views, labels, strict=True))
        ],
        height=35,
        share_y=True,
        letters=True,
        caption=(
            "Over each model's own window no relation of the plasticity drop to the bias, per token or per window, "
            "survives correction; over equal tokens that per token does, between families [@shcherb2026]. Bias per (a) "
            f"token and (b) window of {int(models.sum())} captured models and {int((~models).sum())} checkpoints of "
            f"SmolLM3 (joined); (c) {len(same)} models over {window:,} tokens: last checkpoint of SmolLM3, not "
            f"{listed(absent)}."
        ),
        note=(
            "Pearson's $r$ with its 95 % interval, of the bias, in (a) not of the logarithm drawn; two of the models "
            f"run one text network. Holm's $p$ in (b): {holm:.3f}. Over checkpoints alone $r$ is ${run['token']:.2f}$ "
            f"in (a) and ${run['window']:.2f}$ in (b); they are states of one run. Unit: one model or checkpoint, mean "
            "over heads; the study gives no uncertainty. Bars: what the rounding of the bias leaves open."
        ),
        short="The plasticity drop against the bias per token and per window",
    )
