"""Document 001: claims on numbers that document 002 also states, judged by the verdicts on document 002."""

import pandas as pd

from boundpaper.claims import Artifact, Cells, Repeats, Verdict, claim, compare, pick, quote

# statement of document 001 -> the same statement of document 002, and the ledger rows that judge it
RESTATED = {
    "profile_ministral_drop": ("cross_ministral_drop", "c002_ministral_drop"),
    "decomposition_ministral_drop": ("h4_ministral_drop", "c002_h4_numbers.h4_ministral_drop"),
    "decomposition_qwen_drop": ("cross_qwen_drop", "c002_qwen_drop_range"),
    "decomposition_excess": ("h6_excess", "c002_h6_excess"),
    "longbench_ministral_drop": ("drop_ministral_typical", "c002_drop_typical.ministral"),
    "longbench_qwen_drop": ("drop_qwen_typical", "c002_drop_typical.qwen"),
    "longbench_llama_drop": ("drop_llama_typical", ""),
    "aggregate_ministral_last_20": ("h2_ministral", "c002_last_20_ranges.ministral"),
    "aggregate_ministral_lbp": ("h2_ministral_lbp", "c002_h2_ministral_maps"),
    "training_checkpoints": ("training_checkpoints", ""),
    "ruler_mistral_64k_length": ("ruler_mistral_64k_length", ""),
    "ruler_mistral_128k_length": ("ruler_mistral_128k_length", ""),
}


STATED_002 = Artifact("stated_002", "the second study")


c001_stated_again = Cells(
    "The narrative gives drops, excess and checkpoints as the second study does.",
    "001, Cross-Model Results",
    Repeats(
        Artifact("stated_001"),
        {key: STATED_002(statement=same).by(*claims.split()) for key, (same, claims) in RESTATED.items()},
    ),
)


@claim("001, Connecting to Benchmarks: LongBench Pro")
def c001_longbench_lengths(stated_001: pd.DataFrame, lbp_lengths: pd.DataFrame) -> list[Verdict]:
    """The profile of Ministral-3-14B is given from the shortest to the longest length for which it has a value."""
    binned_lengths = lbp_lengths[(lbp_lengths["model"] == "ministral3-14b") & lbp_lengths["plasticity"].notna()]
    limits = {"first": int(binned_lengths["tokens"].min()), "last": int(binned_lengths["tokens"].max())}
    return [
        compare(
            quote(stated_001, statement=f"longbench_ministral3_14b_{end}_length"),
            1000.0 * tokens / 1024,
            reason=f"The {end} length with plasticity has {tokens:,} tokens, {tokens // 1024} x 1,024.",
            places=0,
            key=end,
            statement=f"{pick(stated_001, statement=f'longbench_ministral3_14b_{end}_length')['quantity']}.",
            kind="cell check",
        )
        for end, tokens in limits.items()
    ]
