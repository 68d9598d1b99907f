"""Compare SmolLM3 with the captured models: the drop over an equal window, and the drop's relation to the bias."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.studies._weights import shared_text_weights, twins
from boundpaper.statistics import guards
from boundpaper.statistics.correlations import correlation, covariate
from boundpaper.statistics.correlations.contrast import correlation_difference
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected

LAST_CHECKPOINT = "lc-32k-to-64k-step-20000"
SMOLLM3 = "smollm3-3b"
STUDY = "bias_plasticity_tests"
ENDS = ["bias_window_low", "bias_window_high"]


def training_comparison(
    captured_models: pd.DataFrame,
    training_trajectory: pd.DataFrame,
    reported_training_comparison: pd.DataFrame,
    reported_deciles: pd.DataFrame,
    models: pd.DataFrame,
) -> pd.DataFrame:
    """Compare SmolLM3 after its extensions with all captured models, over the captured window and over 65,536 tokens.

    With a capture of 131,072 tokens, the first and last fifth of the first 65,536 are the deciles 0 and 4 exactly, so
    `drop_same` is decile 0 minus decile 4, and `far_same` is decile 4. For SmolLM3, `drop_same` is the printed ap_drop.
    `compared` marks the rows of the source's comparison, and `context_stated` is the source's trained context in
    tokens.
    """
    columns = ["model", "display_name", "family", "claimed_context", "captured_context", "bias_strength", "bias_window"]
    facts = captured_models[[*columns, *ENDS, "parameters_nominal_b", "ap_drop", "ap_last_20"]]
    last_row = training_trajectory[training_trajectory["checkpoint"] == LAST_CHECKPOINT].iloc[0]
    model_row = models[models["model"] == SMOLLM3].iloc[0]
    window = int(last_row["context"])
    smollm = {name: model_row[name] for name in ("model", "display_name", "family", "claimed_context")}
    smollm |= {"parameters_nominal_b": model_row["parameters_nominal_b"], "captured_context": window}
    smollm |= {name: last_row[name] for name in ("bias_strength", "bias_window", *ENDS, "ap_drop", "ap_last_20")}
    table = _bias_range_per_token(pd.concat([pd.DataFrame([smollm]), facts], ignore_index=True), "captured_context")

    deciles = reported_deciles.assign(decile=reported_deciles["decile"].astype(int)).set_index(["model", "decile"])
    rows = []
    for _, row in table.iterrows():
        first, last = (deciles.loc[(row["model"], d)] if row["model"] != SMOLLM3 else None for d in (0, 4))
        if first is None or last is None:
            bounds = {"drop_same_low": last_row["ap_drop_low"], "drop_same_high": last_row["ap_drop_high"]}
            rows.append({"drop_same": last_row["ap_drop"], **bounds, "far_same": last_row["ap_last_20"], "note": ""})
        elif int(row["captured_context"]) == 2 * window:
            drop = {"drop_same": first["value"] - last["value"], "far_same": last["value"], "note": ""}
            rows.append(
                {**drop, "drop_same_low": first["low"] - last["high"], "drop_same_high": first["high"] - last["low"]}
            )
        else:
            missing_cells = dict.fromkeys(("drop_same", "drop_same_low", "drop_same_high", "far_same"), np.nan)
            rows.append({**missing_cells, "note": "captured over a shorter window"})
    table = pd.concat([table, pd.DataFrame(rows)], axis=1)
    contexts = reported_training_comparison.drop_duplicates("model").set_index("model")["context_trained"]
    table["compared"] = table["model"].isin(set(contexts.index))
    table["context_stated"] = table["model"].map(contexts.str.rstrip("K").astype(float) * 1024)
    reason = "context_stated: the source does not compare this model"
    table["note"] = [
        "; ".join(text for text in (note, "" if in_source else reason) if text)
        for note, in_source in zip(table["note"], table["compared"], strict=True)
    ]
    for name in ("bias_strength", "bias_window", "ap_drop", "drop_same"):
        table[f"{name}_of_smollm3"] = table[name] / table[name].iloc[0]
    return table


def bias_plasticity(captured_models: pd.DataFrame, training_trajectory: pd.DataFrame) -> pd.DataFrame:
    """Return the captured models and SmolLM3's checkpoints in one table: the drop, and the bias in both units.

    The columns `_low` and `_high` of either bias are the range allowed by rounding.
    """
    columns = ["name", "display_name", "family", "context", "bias_strength", "bias_window", "ap_drop", "kind"]
    models = captured_models.rename(columns={"model": "name", "captured_context": "context"}).assign(kind="model")
    run = training_trajectory.rename(columns={"checkpoint": "name"}).assign(family="SmolLM3", kind="checkpoint")
    return _bias_range_per_token(pd.concat([models[columns + ENDS], run[columns + ENDS]], ignore_index=True), "context")


def _bias_range_per_token(table: pd.DataFrame, window: str) -> pd.DataFrame:
    """Return `table` with the rounding range of the bias per token, from the range of the bias over the window."""
    for end, column in zip(("low", "high"), ENDS, strict=True):
        table[f"bias_strength_{end}"] = table[column].astype(float) / table[window].astype(float)
    return table


def bias_plasticity_tests(
    bias_plasticity: pd.DataFrame,
    training_comparison: pd.DataFrame,
    published_facts: pd.DataFrame,
    test_families: pd.DataFrame,
) -> pd.DataFrame:
    """Test whether ap_drop correlates with the bias, per token or per window, over models, checkpoints, and both.

    All captured models but one have the same window, so among them the units differ by a constant factor. The third
    group mixes independent and dependent units. The last tests use the drop over the same 65,536 tokens for all
    models, including SmolLM3 after its extensions, so both units give the same ranks. They are repeated with each
    network counted once, since two models share text weights.
    """
    groups = {
        "captured models": bias_plasticity[bias_plasticity["kind"] == "model"],
        "checkpoints": bias_plasticity[bias_plasticity["kind"] == "checkpoint"],
        "models and checkpoints": bias_plasticity,
    }
    tests: list[Estimate] = []
    labels: dict[str, Any]
    for group, rows in groups.items():
        unit = "checkpoint" if group == "checkpoints" else "model" if group == "captured models" else "model or state"
        run_of_rows = ["SmolLM3" if kind == "checkpoint" else None for kind in rows["kind"]]
        guard = guards.dependent_units(list(rows["name"]), run_of_rows, "one training run")
        guard += shared_text_weights(list(rows["name"]), published_facts)
        for bias, label in (("bias_strength", "per token"), ("bias_window", "per window")):
            labels = {"study": STUDY, "comparison": f"{label}, {group}", "unit": unit}
            values = (rows[bias], rows["ap_drop"])
            for method in (correlation.pearson, correlation.spearman):
                tests.append(guards.attach(method(*values, names=(bias, "ap_drop"), **labels), guard))
            if group == "captured models":
                left_out = correlation.leave_one_out(*values, units=list(rows["display_name"]), **labels)
                tests.append(guards.attach(left_out, guard))
        difference = correlation_difference(
            rows["ap_drop"],
            rows["bias_window"],
            rows["bias_strength"],
            study=STUDY,
            comparison=f"per window against per token, {group}",
            unit=unit,
            note="of absolute correlations, so a turn of the sign does not show",
        )
        tests.append(guards.attach(difference, guard))
    models = training_comparison[training_comparison["drop_same"].notna()]
    derived, _ = twins(published_facts)
    networks = models[models["model"] != derived]
    for sample, unit, rows in (("models", "model", models), ("networks", "network", networks)):
        guard = shared_text_weights(list(rows["model"]), published_facts)
        labels = {"study": STUDY, "comparison": f"per token, {sample} over the same window", "unit": unit}
        values, names = (rows["bias_strength"], rows["drop_same"]), ("bias_strength", "drop_same")
        estimates = [method(*values, names=names, **labels) for method in (correlation.pearson, correlation.spearman)]
        estimates.append(correlation.leave_one_out(*values, units=list(rows["display_name"]), **labels))
        estimates.append(covariate.within_family(*values, list(rows["family"]), **labels))
        tests += [guards.attach(test, guard) for test in estimates]
    return frame(corrected(tests, test_families, STUDY))
