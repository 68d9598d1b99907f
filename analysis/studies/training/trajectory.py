"""Follow SmolLM3 over ten checkpoints of one run: bias per token and per window, and changes over spans of the run."""

import pandas as pd

from boundpaper.statistics.rounding import Interval, ratio
from boundpaper.store.frames import wide

METRICS = tuple(
    """
    bias_strength bias_window alpha_k key_drift mu_q r_k_a separation_strength plane_var ap_overall ap_first_20
    ap_last_20 ap_drop
    """.split()
)
SPANS = {
    "pretraining": ("stage1-step-40000", "stage3-step-4720000"),
    "onset": ("stage3-step-4720000", "lc-4k-to-32k-step-4000"),
    "second": ("lc-4k-to-32k-step-20000", "lc-32k-to-64k-step-20000"),
    "extensions": ("stage3-step-4720000", "lc-32k-to-64k-step-20000"),
}


def training_trajectory(reported_training: pd.DataFrame, checkpoints: pd.DataFrame) -> pd.DataFrame:
    """Return every checkpoint with printed metrics and derived quantities.

    `bias_window` is bias_strength times the captured context, `key_drift` is alpha_k times the captured context (the
    mean key's shift along the drift axis over the window), `mu_q` = bias_strength / alpha_k is the implied mean query
    projection (approximate, as it uses means over heads). `ap_drop_recomputed` is the difference of ap_first_20 and
    ap_last_20. Columns ending in `_low` and `_high` are the range allowed by rounding of the printed inputs.
    `first_fifth_ends` and `last_fifth_starts` are positions in tokens.
    """
    facts = checkpoints[
        ["checkpoint", "display_name", "phase", "order", "steps_in_phase", "captured_context", "rope_theta"]
    ].rename(columns={"captured_context": "context"})
    table = facts.merge(wide(reported_training, by=["checkpoint"]), on="checkpoint")
    cells = {(row["checkpoint"], row["metric"]): row for _, row in reported_training.iterrows()}
    derived = []
    for row in table.to_dict("records"):
        bias, slope, first, last, drop = (
            _row_interval(cells[row["checkpoint"], name])
            for name in ("bias_strength", "alpha_k", "ap_first_20", "ap_last_20", "ap_drop")
        )
        context = float(row["context"])
        difference = first - last
        derived.append(
            {
                "bias_window": row["bias_strength"] * context,
                **_end_columns("bias_window", bias * context),
                "key_drift": row["alpha_k"] * context,
                **_end_columns("key_drift", slope * context),
                "mu_q": row["bias_strength"] / row["alpha_k"],
                **_end_columns("mu_q", ratio(bias, slope)),
                "ap_drop_recomputed": row["ap_first_20"] - row["ap_last_20"],
                **_end_columns("ap_drop", difference),
                "ap_drop_agrees": bool(difference.low <= drop.high and drop.low <= difference.high),
                "first_fifth_ends": context / 5,
                "last_fifth_starts": context * 4 / 5,
            }
        )
    table = pd.concat([table, pd.DataFrame(derived, index=table.index)], axis=1)
    return table.sort_values("order", ignore_index=True)


def training_changes(training_trajectory: pd.DataFrame, reported_training: pd.DataFrame) -> pd.DataFrame:
    """Return the change of every metric over four spans of the run, as ratio, fold (1 or more) and difference.

    The spans are `pretraining` from the first checkpoint to annealing, `onset` from there to the first checkpoint of
    the first extension, `second` between the last checkpoints of the two extensions, `extensions` from annealing to the
    last checkpoint.
    """
    computed = {row["checkpoint"]: row for _, row in training_trajectory.iterrows()}
    printed_ranges = {(row["checkpoint"], row["metric"]): _row_interval(row) for _, row in reported_training.iterrows()}

    def interval(checkpoint: str, metric: str) -> Interval:
        if (checkpoint, metric) in printed_ranges:
            return printed_ranges[checkpoint, metric]
        row = computed[checkpoint]
        return Interval(float(row[f"{metric}_low"]), float(row[f"{metric}_high"]))

    rows = []
    for span, (start, end) in SPANS.items():
        for metric in METRICS:
            old, new = float(computed[start][metric]), float(computed[end][metric])
            old_range, new_range = interval(start, metric), interval(end, metric)
            grows = new >= old
            rows.append(
                {
                    "span": span,
                    "metric": metric,
                    "start": start,
                    "end": end,
                    "before": old,
                    "after": new,
                    "ratio": new / old,
                    **_end_columns("ratio", ratio(new_range, old_range)),
                    "fold": new / old if grows else old / new,
                    **_end_columns("fold", ratio(new_range, old_range) if grows else ratio(old_range, new_range)),
                    "difference": new - old,
                    **_end_columns("difference", new_range - old_range),
                }
            )
    return pd.DataFrame(rows)


def _row_interval(row: pd.Series) -> Interval:
    return Interval(float(row["low"]), float(row["high"]))


def _end_columns(name: str, interval: Interval) -> dict[str, float]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}
