"""All captured models: plasticity, and bias per token and per window; measured models separately."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from boundpaper.typeset.wording import whole
from tables._house import estimator_phrase, model_footnotes, model_marks, rounded_bias

NULL = "random-llama"


def table(captured_models: pd.DataFrame, measured_models: pd.DataFrame) -> Table:
    """Return one row per captured model, then one per measured model."""
    longest, shared = captured_models["captured_context"].max(), bool(_shared_estimator(measured_models))
    reported_rows = captured_models.assign(mark=model_marks(captured_models, longest, scored=False))
    marks = [f"measured {model}" for model in measured_models["model"]]
    own_rows = measured_models.assign(mark=marks)
    columns = [name for name in own_rows.columns if name in reported_rows.columns]
    rows = pd.concat([reported_rows[columns], own_rows[columns]], ignore_index=True)
    rows["first_measured"] = rows.index == len(reported_rows)
    rows["bias_token"] = 1e4 * rows["bias_strength"]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("ap_overall", "overall", fixed(4), group="Plasticity"),
            Column("ap_first_20", "first 20 %", fixed(4), group="Plasticity"),
            Column("ap_last_20", "last 20 %", fixed(4), group="Plasticity"),
            Column("ap_drop", "drop", fixed(3), group="Plasticity"),
            Column("bias_token", "per token", fixed(2), group="Bias", unit="$10^{-4}$"),
            Column("bias_window", "per window", fixed(1), group="Bias"),
            Column("captured_context", "Captured\ncontext", integer(), unit="tokens"),
        ],
        rule_before="first_measured",
        marks={
            **model_footnotes(captured_models, longest),
            **{f"measured {row['model']}": _measured_footnote(row, shared) for _, row in measured_models.iterrows()},
        },
        caption=(
            f"Plasticity and bias of all {len(reported_rows)} captured models, in falling order of plasticity. Unit: "
            "one model. Plasticity and bias per token as printed in the all-models table of the study [@shcherb2026]. "
            "Below the rule: measured by this project, not reported."
        ),
        short="Plasticity and bias of all captured models",
        note=(
            "Plasticity: mean over heads and pairs of keys of $4p(1-p)$, $p$ being the probability that a query ranks "
            "one key above the other; drop: first minus last 20 % of positions. Bias per token is the drift of the "
            "attention logit per position, bias per window that times the captured context. "
            + rounded_bias(captured_models)
            + _measuring_note(measured_models)
        ),
    )


def _measuring_note(rows: pd.DataFrame) -> str:
    """Return the part of the note that applies to every measured model."""
    if rows.empty:
        return ""
    shared = _shared_estimator(rows)
    return (
        f" Measured rows: {f'{shared}, ' if shared else ''}means over heads, 95 % intervals from resampled key heads; "
        "comparable with a reported value only if estimator, texts and context agree."
    )


def _shared_estimator(rows: pd.DataFrame) -> str:
    """Return the estimator used for all measured models; empty text if they differ."""
    estimators = {estimator_phrase(row["estimator"], row["pairs"]) for _, row in rows.iterrows()}
    return estimators.pop() if len(estimators) == 1 else ""


def _measured_footnote(row: pd.Series, shared: bool) -> str:
    """Return the footnote of a measured model: its heads, its context, and the intervals of its means."""
    opening = "Random weights and words, a null: " if row["model"] == NULL else ""
    estimator = "" if shared else f"{estimator_phrase(row['estimator'], row['pairs'])}; "
    number = fixed(3)
    intervals = [
        f"{word} {number.show(row[f'{name}_low'], 'plain')} to {number.show(row[f'{name}_high'], 'plain')}"
        for word, name in (("overall", "ap_overall"), ("drop", "ap_drop"))
        if pd.notna(row[f"{name}_low"])
    ]
    extent = f"{row['heads']} heads of {row['key_heads']} key heads, {whole(row['captured_context'])} tokens"
    return f"{opening}{estimator}{extent}{'; ' if intervals else ''}{', '.join(intervals)}."
