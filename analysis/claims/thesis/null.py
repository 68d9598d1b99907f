"""Claims of the thesis on its null reference, a network with random weights."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import min_to_max
from boundpaper.claims import Verdict, claim, judge, pick

MARGIN = 0.02  # a smaller change of plasticity counts as none (amendment of the plan)


@claim("thesis, Attention plasticity across models")
def thesis_null_falls(measured_models: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """In a network with random weights plasticity falls along the context too, by an amount inside the reported
    range.
    """
    row = pick(measured_models, model="random-llama")
    low, high = captured_models["ap_drop"].min(), captured_models["ap_drop"].max()
    return judge(
        bool(row["ap_drop_low"] > 0 and low <= row["ap_drop"] <= high),
        f"Its drop is {row['ap_drop']:.3f} [{row['ap_drop_low']:.3f}, {row['ap_drop_high']:.3f}] over "
        f"{row['captured_context']} tokens; the {len(captured_models)} reported ones run from {low:.3f} to {high:.3f}.",
        recomputed=f"{row['ap_drop']:.3f}",
        n=int(row["heads"]),
        ci=(float(row["ap_drop_low"]), float(row["ap_drop_high"])),
    )


@claim("thesis, Attention plasticity across models")
def thesis_null_causes(null_causes: pd.DataFrame) -> Iterator[Verdict]:
    """Plasticity falls in networks with random weights because attention makes late queries alike.

    Four predictions, written before the networks were measured by layer; each is judged over every measured size.
    """
    sizes = ", ".join(sorted(null_causes["size"].unique()))
    seeds = int(null_causes["seeds"].min())

    def changes(case: str, depth: str, quantity: str) -> pd.DataFrame:
        rows = null_causes.query("case == @case and depth == @depth and quantity == @quantity")
        return rows.set_index(["size", "positional"])

    def verdict(true: bool, key: str, words: str, values: pd.Series, statement: str) -> Verdict:
        range_in_words = min_to_max(values, "+.3f")
        return judge(
            true, f"{words}: {range_in_words} ({sizes} layers x width, {seeds} initialisations each).",
            recomputed=range_in_words, n=seeds, key=key, statement=f"In networks with random weights {statement}",
        )  # fmt: skip

    first = changes("written", "first", "plasticity").query("positional == 'none'")["change"]
    statement = "and no rotation, plasticity of the first layer, whose queries hold no attention, does not change."
    yield verdict(bool((first.abs() < MARGIN).all()), "first_layer", "Change in the first layer", first, statement)
    last, spread, gap = (changes("written", "last", name) for name in ("plasticity", "spread", "gap"))
    falls = (last["high"] < 0) & (spread["high"] < 0) & ((1 + gap["change"]) * (1 + spread["change"]) < 1)
    statement = (
        "plasticity of the last layer falls, because the spread over queries shrinks more than the mean gap grows."
    )
    yield verdict(bool(falls.all()), "last_layer", "Relative change of the spread", spread["change"], statement)
    silenced_changes = changes("silenced", "all", "plasticity")["change"]
    statement = "whose attention writes nothing, plasticity does not change along the context."
    yield verdict(
        bool((silenced_changes.abs() < MARGIN).all()),
        "silenced",
        "Change without attention",
        silenced_changes,
        statement,
    )
    fall, remaining = (changes(case, "all", "plasticity")["change"] for case in ("written", "early queries"))
    share_gone = 1 - remaining / fall
    statement = "more than half of the fall is gone when late queries are replaced by early ones."
    yield verdict(bool((share_gone > 0.5).all()), "queries", "Share of the fall that is gone", share_gone, statement)
