"""Document 003, interpretation: claims on orderings, model size, anchoring, data sets and the meaning of delta P."""

from typing import Any

import pandas as pd

from analysis.claims._shared import printed_text, rows_where
from analysis.claims.s003._delta_p import SIZES
from boundpaper.claims import Verdict, claim, judge, pick, quote, untestable

PRESERVED = -5  # in points: a band that stays at this level or above counts as preserved


@claim("003, Key Observations", failure="unit")
def c003_size_severity(delta_p_landmarks: pd.DataFrame) -> list[Verdict]:
    """The curves of the larger model fall lower, to about -70 against about -55: scale amplifies the effect."""
    rows = delta_p_landmarks[delta_p_landmarks["landmark"] == "lowest"]
    values = rows[rows["metric"] == "delta_p"].set_index("model")
    small, large = (values.loc[model] for model in SIZES.values())
    model_count = len(values)
    fields: dict[str, Any] = {
        "reported": f"{large['printed']} against {small['printed']}",
        "recomputed": f"{large['value'] - small['value']:+.0f} points",
        "n": model_count,
    }
    is_lower = bool(large["value"] < small["value"])
    return [
        judge(
            is_lower,
            f"{large['printed']} ({large['data_set']}) against {small['printed']} ({small['data_set']}), each the "
            "lowest of four curves, read off by eye.",
            key="order",
            statement="The lowest curve of the 3B model lies below that of the 1B model.",
            **fields,
        ),
        judge(
            is_lower and model_count > 2,
            f"{model_count} models that differ in more than size, without an interval and with different samples in "
            "the groups, support no statement on scale; the heading asserts what the sentence below it calls possible.",
            otherwise="not supported" if is_lower else "contradicted",
            key="scale",
            statement="The effect grows with the size of the model.",
            **fields,
        ),
    ]


@claim("003, Key Observations")
def c003_longer_phase(delta_p_landmarks: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The degraded phase of the larger model is longer, across more layers."""
    counts, shares, phrases = [], [], []
    for model in SIZES.values():
        rows = rows_where(delta_p_landmarks, model=model, landmark="degraded")
        low, high = (quote(rows, metric=f"layer_{end}").number for end in ("low", "high"))
        layers = int(pick(models, model=model)["layers"])
        counts.append(high - low + 1)
        shares.append(counts[-1] / layers)
        phrases.append(f"{counts[-1]:.0f} of {layers} layers ({100 * shares[-1]:.0f} %)")
    return judge(
        counts[1] > counts[0],
        f"It is {phrases[1]} against {phrases[0]}, {'a larger' if shares[1] > shares[0] else 'but a smaller'} part of "
        "the depth.",
        reported="longer",
        recomputed=f"{counts[1]:.0f} against {counts[0]:.0f} layers",
        n=2,
    )


@claim("003, Detailed Analysis")
def c003_lowest_data_sets(delta_p_landmarks: pd.DataFrame) -> Verdict:
    """PopQA has the lowest curve of the 1B model and TriviaQA that of the 3B model."""
    rows = delta_p_landmarks[delta_p_landmarks["landmark"] == "lowest"].drop_duplicates("model")
    names = rows.set_index("model")["data_set"]
    return untestable(
        f"No points of the other curves are given; if {names['llama3.2-1b']} and {names['llama3.2-3b']} are lowest, "
        "the order within the lower pair is not the same in both models, and the series with their intervals would "
        "decide it.",
        reported=f"{names['llama3.2-1b']}, {names['llama3.2-3b']}",
    )


@claim("003, Key Observations")
def c003_ordering(delta_p_stated: pd.DataFrame) -> Verdict:
    """PopQA and TriviaQA lie below HotpotQA and NQ in both models, and the order of the data sets is consistent."""
    data_sets = printed_text(delta_p_stated, statement="analysis_3b_lowest_data_sets")
    return untestable(
        "The description gives no value for HotpotQA or NQ and none for any answer-anchored curve by itself; the "
        "series, and the number of samples behind each, would decide it.",
        reported=data_sets,
    )


@claim("003, Detailed Analysis")
def c003_all_four(delta_p_stated: pd.DataFrame) -> Verdict:
    """All four question-anchored curves fall and all four answer-anchored ones stay flat, in each model."""
    series = delta_p_stated.set_index("statement")["printed"]
    return untestable(
        "Ranges over four curves do not tell how each one runs; the series would decide it.",
        reported=f"{series['analysis_1b_question_series']}, {series['analysis_1b_answer_series']}",
    )


@claim("003, Interpretation")
def c003_anchoring_effect(delta_p_landmarks: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """Anchoring has a far greater effect than data set or model size."""
    points = delta_p_landmarks[delta_p_landmarks["metric"].str.startswith("delta_p")]
    lowest = points[points["landmark"] == "lowest"].set_index("model")["value"]
    floor = rows_where(points, landmark="band", metric="delta_p_low").set_index("model")["value"]
    last_points = points[points["landmark"] == "end"].pivot(index="model", columns="metric", values="value")
    gap = (floor - lowest).min()
    largest_spread = (last_points["delta_p_high"] - last_points["delta_p_low"]).max()
    model_gap = abs(lowest.iloc[0] - lowest.iloc[1])
    groups = printed_text(published_facts, fact="delta_p_groups")
    by_outcome = "flips" in groups
    return judge(
        gap > max(largest_spread, model_gap) and not by_outcome,
        f"At the trough the groups are {gap:.0f} points apart or more, data sets spread over up to "
        f"{largest_spread:.0f} at the end and the models by {model_gap:.0f}; but the groups are {groups}, and a flip "
        "is a fall by definition, so that a gap between them is built in.",
        otherwise="not supported" if gap > max(largest_spread, model_gap) else "contradicted",
        reported="far greater",
        recomputed=f"{gap:.0f} against {largest_spread:.0f} and {model_gap:.0f} points",
        n=2,
    )


@claim("003, Overview")
def c003_performance(published_facts: pd.DataFrame) -> Verdict:
    """Delta P measures a change of the model's performance on the task."""
    quantity = printed_text(published_facts, fact="delta_p_quantity")
    return judge(
        "probe" not in quantity,
        f"It is the {quantity} when the question is hidden from the answer; the answer itself is given and does not "
        "change, so no task gets better or worse; the interpretation leaves open whether performance or probability is "
        "meant, and then reads it as the former.",
        reported="performance",
        recomputed=quantity,
    )


@claim("003, Interpretation")
def c003_strategy(published_facts: pd.DataFrame, delta_p_landmarks: pd.DataFrame) -> Verdict:
    """An answer anchor preserves performance across all layers, a question anchor degrades it, so the choice
    matters.
    """
    groups = printed_text(published_facts, fact="delta_p_groups")
    floor = rows_where(delta_p_landmarks, landmark="band", metric="delta_p_low")
    return judge(
        not groups.startswith("samples") and floor["value"].min() >= PRESERVED,
        (
            "The groups are "
            if not groups.startswith("samples")
            else "Anchoring is no method that one could choose: the groups are "
        )
        + f"{groups}. The band of the answer-anchored group reaches down to {floor['value'].min():.0f} points"
        + (
            ", which is left as it was."
            if floor["value"].min() >= PRESERVED
            else ", so it is not left as it was either."
        ),
        reported="the choice",
        recomputed=groups,
    )


@claim("003, Interpretation")
def c003_mid_vulnerability(delta_p_stated: pd.DataFrame) -> Verdict:
    """The middle layers are a bottleneck where question-anchored representations become less useful for the
    prediction.
    """
    model_count = pick(delta_p_stated, statement="overview_models")["as_number"]
    return untestable(
        f"The curves come from probes of {model_count:.0f} models whose quality by layer is not stated: a probe near "
        "chance cannot fall. The probes' AUROC by layer and a knockout of as many tokens that are not of the question "
        "would decide it."
    )
