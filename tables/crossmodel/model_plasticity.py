"""All captured models: benchmark scores, plasticity, and bias per token and per window; measured models separately."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from boundpaper.typeset.numbers import fixed as fixed_number
from boundpaper.typeset.wording import whole
from tables._house import estimator_phrase, model_footnotes, model_marks, rounded_bias

NULL = "random-llama"


def table(captured_models: pd.DataFrame, reported_plasticity: pd.DataFrame, measured_models: pd.DataFrame) -> Table:
    """Return the table."""
    full, shared = captured_models["captured_context"].max(), bool(_shared_estimator(measured_models))
    printed_cells = reported_plasticity[reported_plasticity["printed"] != ""]
    keys = set(zip(printed_cells["model"], printed_cells["metric"], strict=True))
    reported = captured_models.assign(
        mark=model_marks(captured_models, full),
        lbp_mark=[
            "new" if pd.notna(row["lbp"]) and (row["model"], "lbp") not in keys else ""
            for _, row in captured_models.iterrows()
        ],
        ruler_mark=[_ruler_mark(row, (row["model"], "ruler_128k") in keys) for _, row in captured_models.iterrows()],
        reason="",
    )
    own_rows = measured_models.assign(
        mark=[f"measured {row['model']}" for _, row in measured_models.iterrows()],
        lbp=float("nan"),
        ruler_128k=float("nan"),
        lbp_mark="",
        ruler_mark="",
    )
    columns = [name for name in own_rows.columns if name in reported.columns]
    rows = pd.concat([reported[columns], own_rows[columns]], ignore_index=True)
    rows["first_measured"] = rows.index == len(reported)
    rows["bias_token"] = 1e4 * rows["bias_strength"]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("lbp", "LBP", fixed(2), mark="lbp_mark", missing="not scored in this benchmark"),
            Column("ruler_128k", "RULER\n128K", fixed(1), mark="ruler_mark", missing="not scored in this benchmark"),
            Column("ap_overall", "overall", fixed(4), group="Plasticity"),
            Column("ap_first_20", "first 20 %", fixed(4), group="Plasticity"),
            Column("ap_last_20", "last 20 %", fixed(4), group="Plasticity"),
            Column("ap_drop", "drop", fixed(3), group="Plasticity"),
            Column("bias_token", "per token", fixed(2), group="Bias", unit="$10^{-4}$"),
            Column("bias_window", "per window", fixed(1), group="Bias"),
            Column("captured_context", "Captured\ncontext", integer(), unit="tokens"),
        ],
        reason="reason",
        rule_before="first_measured",
        marks={
            **model_footnotes(captured_models, full),
            "new": "Published with the benchmark; the study gives none for this model.",
            "self": "Self-reported by the model's authors [@qwen2025]; the study gives none for this model.",
            **{f"measured {row['model']}": _measured_footnote(row, shared) for _, row in measured_models.iterrows()},
        },
        caption=(
            f"Scores, plasticity and bias of all {len(reported)} captured models, in falling order of plasticity. "
            "Unit: one model. Plasticity and bias per token as printed in the all-models table of the study "
            "[@shcherb2026]; LongBench Pro (LBP) is the overall score without thinking [@longbenchpro2026], RULER "
            "the score at 128K tokens [@hsieh2024]. Below the rule: measured by this project, not reported."
        ),
        short="Scores, plasticity and bias of all captured models",
        note=(
            "Plasticity: mean over heads and pairs of keys of $4p(1-p)$, $p$ being the probability that a query ranks "
            "one key above the other; drop: first minus last 20 % of positions. Bias per token is the drift of the "
            "attention logit per position, bias per window that times the captured context. "
            + rounded_bias(captured_models)
            + _measuring_note(measured_models)
        ),
    )


def _ruler_mark(row: pd.Series, is_printed: bool) -> str:
    if pd.isna(row["ruler_128k"]) or is_printed:
        return ""
    return "self" if str(row["ruler_origin"]).startswith("self") else "new"


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
    ways = {estimator_phrase(row["estimator"], row["pairs"]) for _, row in rows.iterrows()}
    return ways.pop() if len(ways) == 1 else ""


def _measured_footnote(row: pd.Series, shared: bool) -> str:
    """Return the footnote of a measured model: its heads, its context, and the intervals of its means."""
    opening = "Random weights and words, a null: " if row["model"] == NULL else ""
    way = "" if shared else f"{estimator_phrase(row['estimator'], row['pairs'])}; "
    number = fixed_number(3)
    intervals = [
        f"{word} {number.show(row[f'{name}_low'], 'plain')} to {number.show(row[f'{name}_high'], 'plain')}"
        for word, name in (("overall", "ap_overall"), ("drop", "ap_drop"))
        if pd.notna(row[f"{name}_low"])
    ]
    extent = f"{row['heads']} heads of {row['key_heads']} key heads, {whole(row['captured_context'])} tokens"
    return f"{opening}{way}{extent}{'; ' if intervals else ''}{', '.join(intervals)}."
