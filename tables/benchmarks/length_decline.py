"""The relative decline of the LongBench Pro score from 8K to 128K tokens beside the plasticity drops."""

import pandas as pd

from boundpaper.store.paper_vocabulary import words
from boundpaper.tables import Column, Table, fixed, percent, signed
from tables._house import model_footnotes, model_marks
from tables.benchmarks._longbench import BENCHMARK, measured_footnotes, measured_mark


def table(length_decline: pd.DataFrame, measured_decline: pd.DataFrame, measured_lbp_lengths: pd.DataFrame) -> Table:
    """Return one row per model, with both prompt modes side by side."""
    longest = length_decline["captured_context"].max()
    facts = length_decline[length_decline["mode"] == next(iter(words("mode")))].reset_index(drop=True)
    rows = facts.drop(columns=["lbp_8k", "lbp_128k", "decline"]).assign(mark=model_marks(facts, longest))
    for mode in words("mode"):
        values = length_decline[length_decline["mode"] == mode].set_index("model")
        for name in ("lbp_8k", "lbp_128k", "decline"):
            rows[f"{mode}_{name}"] = values.loc[rows["model"], name].to_numpy()
    count = len(rows)
    # scores on other questions do not measure the benchmark's decline
    is_benchmark = measured_decline["data"] == BENCHMARK
    scored, off_benchmark = measured_decline[is_benchmark], measured_decline[~is_benchmark]
    rows = pd.concat([rows.assign(reason=""), _measured_rows(scored)], ignore_index=True)
    rows["first_measured"] = rows.index == count
    scores = measured_lbp_lengths[measured_lbp_lengths["model"].isin(scored["model"])]
    columns = [
        Column("display_name", "Model", mark="mark"),
        Column("ap_drop", "Plasticity\ndrop", fixed(3)),
        Column("total_drop", "Total\ndrop", signed(3), missing="no length bins are reported for this model"),
    ]
    for mode, label in words("mode").items():
        columns += [
            Column(f"{mode}_lbp_8k", "8K", fixed(2), group=f"Score {label}"),
            Column(f"{mode}_lbp_128k", "128K", fixed(2), group=f"Score {label}"),
            Column(f"{mode}_decline", "decline", percent(1, share=True), group=f"Score {label}"),
        ]
    return Table(
        rows=rows,
        columns=columns,
        reason="reason",
        rule_before="first_measured",
        marks={**model_footnotes(facts, longest), **measured_footnotes(scores, scored)},
        caption=(
            "Relative decline of LongBench Pro from 8K to 128K tokens, $1 - s_{128K} / s_{8K}$, beside the plasticity "
            f"drop and the total drop over length bins, {count} models. Unit: one model. Scores as published "
            "[@longbenchpro2026], drops as printed in the study [@shcherb2026]."
            + (" Below the rule: measured by this project, in no test." if len(scored) else "")
        ),
        short="Relative decline of LongBench Pro beside the plasticity drops",
        note=[_models_off_benchmark(off_benchmark)] if len(off_benchmark) else [],
    )


def _models_off_benchmark(decline: pd.DataFrame) -> str:
    """Return a note that names the models scored here on questions other than the benchmark's."""
    models = decline.drop_duplicates("model").sort_values("model")
    names = [f"{row['display_name']} (asked the questions of {row['data']})" for _, row in models.iterrows()]
    return f"Scored by this project on questions that are not the benchmark's, and left out: {', '.join(names)}."


def _measured_rows(decline: pd.DataFrame) -> pd.DataFrame:
    """Return one row per measured model, with both modes in one row and a reason for every empty cell."""
    rows = []
    for model, modes in decline.groupby("model", sort=True):
        first_row = modes.iloc[0]
        row = {"model": model, "display_name": first_row["display_name"], "mark": measured_mark(str(model))}
        reasons = ["total_drop: length bins are reported by the study only"]
        row["ap_drop"] = first_row["ap_drop"]
        if pd.isna(first_row["ap_drop"]):
            reasons.append("ap_drop: no capture of it was analysed")
        for mode in words("mode"):
            values = modes[modes["mode"] == mode]
            for name in ("lbp_8k", "lbp_128k", "decline"):
                value = values[name].iloc[0] if len(values) else float("nan")
                row[f"{mode}_{name}"] = value
                if pd.isna(value):
                    reasons.append(f"{mode}_{name}: {_why_empty(values, name)}")
        rows.append({**row, "reason": "; ".join(reasons)})
    return pd.DataFrame(rows)


def _why_empty(values: pd.DataFrame, name: str) -> str:
    if values.empty:
        return "not scored in this mode"
    if name == "decline" and values["lbp_8k"].notna().all() and values["lbp_128k"].notna().all():
        return "the score at 8K is zero, so nothing can fall"
    return "no score at this length"
