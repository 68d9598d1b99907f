"""Document 001 on SmolLM3: checks that the prose repeats the cells of the table of checkpoints."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._checkpoints import ANNEALED, FIRST, LAST, ONSET
from analysis.claims._training import captured_windows, judge_change, stated
from boundpaper.claims import Verdict, claim, compare, quote

REPEATED = {
    "training_bias_from": (FIRST, "bias_strength"),
    "training_bias_peak": (ANNEALED, "bias_strength"),
    "training_overall_from": (FIRST, "ap_overall"),
    "training_overall_to": (ANNEALED, "ap_overall"),
    "training_bias_to": (LAST, "bias_strength"),
    "training_first_20_from": (ANNEALED, "ap_first_20"),
    "training_first_20_to": (LAST, "ap_first_20"),
    "training_last_20": (LAST, "ap_last_20"),
    "training_drop_from": (ANNEALED, "ap_drop"),
    "training_drop_to": (LAST, "ap_drop"),
    "gaps_drop_from": (ANNEALED, "ap_drop"),
    "gaps_drop_to": (LAST, "ap_drop"),
    "decomposition_pretraining_drop": (ANNEALED, "ap_drop"),
    "decomposition_extended_drop": (LAST, "ap_drop"),
    "decomposition_minuend": (LAST, "ap_drop"),
    "decomposition_subtrahend": (ANNEALED, "ap_drop"),
    "decomposition_smollm3_drop": (LAST, "ap_drop"),
}
FACTORS = {
    "gaps_drop_ratio": ("extensions", "ap_drop"),
    "gaps_bias_ratio": ("extensions", "bias_strength"),
    "training_bias_growth": ("pretraining", "bias_strength"),
    "training_bias_ratio": ("extensions", "bias_strength"),
    "training_drop_ratio": ("extensions", "ap_drop"),
    "decomposition_bias_ratio": ("extensions", "bias_strength"),
}
CONTEXTS = {"training_context_from": FIRST, "training_context_first_extension": ONSET, "training_final_context": LAST}


@claim("001, What Plasticity Reveals: SmolLM3 Training Dynamics")
def c001_training_repeated(
    stated_001: pd.DataFrame, reported_training: pd.DataFrame, training_changes: pd.DataFrame, checkpoints: pd.DataFrame
) -> Iterator[Verdict]:
    """The narrative repeats values, factors and windows of the table of checkpoints."""
    for statement, (checkpoint, metric) in REPEATED.items():
        cell = quote(reported_training, checkpoint=checkpoint, metric=metric)
        yield compare(
            stated(stated_001, statement),
            cell.number,
            cell.interval,
            reason=f"the table of checkpoints prints {cell.printed}",
            places=cell.decimals,
            key=statement,
            statement=f"The value given as {statement.replace('_', ' ')} is {metric} of {checkpoint}.",
            kind="cell check",
        )
    for statement, (span, metric) in FACTORS.items():
        sentence = f"The factor given as {statement.replace('_', ' ')} is that of {metric}."
        fields = {"key": statement, "statement": sentence, "kind": "cell check"}
        yield judge_change(stated_001, statement, training_changes, span, metric, **fields)
    yield from captured_windows(stated_001, checkpoints, CONTEXTS)
