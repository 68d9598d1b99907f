"""Plasticity drop against the bias: per token, per window, and per token with the drop over one common window."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points
from boundpaper.figures.series import Series
from boundpaper.figures.spec import Anchor
from boundpaper.store.frames import pick
from boundpaper.typeset.wording import correlation_phrase, listed

HIGHEST = 0.38  # end of the axis of the drop, with room for the correlation above the points
FIRST = 0.2  # start of the logarithmic axis of the bias per token
PER_TOKEN = "bias per token ($\\times 10^{-3}$)"
STATE_NAMES: tuple[tuple[tuple[str, Anchor, int], ...], ...] = (
    (("start", "below", 0), ("end", "above right", -1)),
    (("start", "below", 0), ("end", "below right", -1)),
    (("SmolLM3", "above left", -1),),
)
"""Names in each panel: text, anchor, and index of the checkpoint."""

EQUAL_WINDOW = {unit: f"per token, {unit} over the same window" for unit in ("models", "networks")}


def _with_coordinates(rows: pd.DataFrame, bias: str, drop: str, scale: float = 1.0) -> pd.DataFrame:
    """Return `rows` with the values to plot: the bias `x`, its rounding range `low` to `high`, and the drop `y`."""
    ends = {end: scale * rows[f"{bias}_{end}"] for end in ("low", "high")}
    return rows.assign(x=scale * rows[bias], y=rows[drop], **ends)


def _checkpoint_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of SmolLM3: its checkpoints, or its one row in a table of models (without a column `kind`)."""
    return rows[rows["kind"] != "model"] if "kind" in rows else rows[rows["family"] == "SmolLM3"]


def figure(
    bias_plasticity: pd.DataFrame,
    training_comparison: pd.DataFrame,
    bias_plasticity_tests: pd.DataFrame,
    families: pd.DataFrame,
) -> Figure:
    """Plot one panel per form of bias and window, and one point per model or checkpoint."""
    is_model = bias_plasticity["kind"] == "model"
    comparable = training_comparison[training_comparison["drop_same"].notna()]
    window = int(comparable["captured_context"].min())
    absent_names = list(training_comparison.loc[training_comparison["drop_same"].isna(), "display_name"])
    tests = bias_plasticity_tests[bias_plasticity_tests["test"] == "pearson"].set_index("comparison")
    run_r = {unit: float(tests["estimate"][f"per {unit}, checkpoints"]) for unit in ("token", "window")}
    holm = tests["p_adjusted"]["per window, captured models"]
    per_token = _with_coordinates(bias_plasticity, "bias_strength", "ap_drop", 1e3)
    per_window = _with_coordinates(bias_plasticity, "bias_window", "ap_drop")
    equal_window = _with_coordinates(comparable, "bias_strength", "drop_same", 1e3)
    x_axes = (
        Axis(label=PER_TOKEN, scale="log", low=FIRST, high=30),
        Axis(label="bias per window", low=0, high=1.08 * per_window["high"].max()),
        Axis(label=PER_TOKEN, low=0, high=1.08 * equal_window["high"].max()),
    )
    views = (
        (per_token, "own window, per token", {"models": "per token, captured models"}),
        (per_window, "the same, per window", {"models": "per window, captured models"}),
        (equal_window, f"first {window // 1024}K of all", EQUAL_WINDOW),
    )
    y_axis = Axis(label="plasticity drop", low=0, high=HIGHEST, ticks=(0, 0.1, 0.2, 0.3))
    panels: list[Panel] = []
    for (rows, title, comparisons), x_axis, names in zip(views, x_axes, STATE_NAMES, strict=True):
        lines: list[Series] = []
        points: list[Series] = []
        for family, entity in zip(families["family"], families["entity"], strict=True):
            members = rows[rows["family"] == family]
            states = _checkpoint_rows(members)
            if len(states) > 1:
                lines.append(Line(x=states["x"], y=states["y"], entity=entity, marks=False, dash="solid", legend=False))
            if len(members):
                x, y, low, high = (members[name] for name in ("x", "y", "low", "high"))
                point = Points(x=x, y=y, x_low=low, x_high=high, entity=entity, legend=not panels, origin="reported")
                points.append(point)
        annotations = []
        for y, (unit, comparison) in zip((0.96, 0.885), comparisons.items(), strict=False):
            row = pick(bias_plasticity_tests, comparison=comparison, test="pearson")
            text = f"{int(row['n'])} {unit}: {correlation_phrase(row).partition(', $p')[0]}"
            annotations.append(Annotation(x=0 if panels else FIRST, y=y * HIGHEST, text=text, anchor="right"))
        for name, anchor, index in names:
            state = _checkpoint_rows(rows).iloc[index]
            annotations.append(Annotation(x=state["x"], y=state["y"], text=name, anchor=anchor, entity="smollm3-3b"))
        panels.append(Panel(series=[*lines, *points], x=x_axis, y=y_axis, title=title, annotations=annotations))
    return Figure(
        panels=panels,
        height=35,
        share_y=True,
        letters=True,
        caption=(
            "Over each model's own window no relation of the plasticity drop to the bias, per token or per window, "
            "survives correction; over equal tokens that per token does, between families [@shcherb2026]. Bias per "
            f"(a) token and (b) window of {int(is_model.sum())} captured models and {int((~is_model).sum())} "
            f"checkpoints of SmolLM3 (joined); (c) {len(comparable)} models over {window:,} tokens: last checkpoint of "
            f"SmolLM3, not {listed(absent_names)}."
        ),
        note=(
            "Pearson's $r$ with its 95 % interval, of the bias, in (a) not of the logarithm drawn; two of the models "
            f"run one text network. Holm's $p$ in (b): {holm:.3f}. Over checkpoints alone $r$ is "
            f"${run_r['token']:.2f}$ in (a) and ${run_r['window']:.2f}$ in (b); they are states of one run. Unit: one "
            "model or checkpoint, mean over heads; the study gives no uncertainty. Bars: what the rounding of the "
            "bias leaves open."
        ),
        short="The plasticity drop against the bias per token and per window",
    )
