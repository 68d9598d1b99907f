"""Document 002: claims on positions in profiles, and on lengths, that its prose states."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from analysis.claims._shared import cell_check, decile_values, judge_recovery_depth, printed_text
from boundpaper.claims import Artifact, Cells, Repeats, Verdict, claim, compare, pick, quote

LLAMA, VISION, MISTRAL = "llama3.1-8b", "llama3.2-11b", "mistral-v0.2-7b"
PLACES = {
    **{f"t4_llama32_11b_{feature}_place": (VISION, feature) for feature in ("recovery", "collapse")},
    **{f"t4_llama31_8b_{feature}_place": (LLAMA, feature) for feature in ("dip", "recovery", "collapse")},
    **{f"h8_{feature}_place": (LLAMA, feature) for feature in ("dip", "recovery", "collapse")},
    "ruler_llama_collapse_place": (LLAMA, "collapse"),
    **{f"ruler_llama32_11b_{feature}_place": (VISION, feature) for feature in ("recovery", "collapse")},
}
FAILING_LENGTHS = {
    "h7_failing_length_first": 0,
    "h7_failing_length_last": -1,
    "ruler_mistral_64k_length": 0,
    "ruler_mistral_128k_length": -1,
}
PASS_SCORE = 50.0  # RULER score below which most answers are wrong
H7 = Artifact("stated_002", "Hypothesis H7")
WINDOW = H7(statement="h7_window").by("c002_ruler_models_window.mistral-v0.2-7b")
LONGEST = H7(statement="h7_failing_length_last")


@claim("002, Decile Plasticity Profile, Table 4")
def c002_profile_places(stated_002: pd.DataFrame, decile_profiles: pd.DataFrame) -> Iterator[Verdict]:
    """Dip, recovery and collapse of the two Llama models of 32 layers lie in the deciles that the prose names."""
    for key, (model, feature) in PLACES.items():
        row = pick(decile_profiles, model=model)
        values = decile_values(row)
        dip = values.index(min(values[:7]))
        deciles = {"dip": dip, "recovery": values.index(max(values[dip:])), "collapse": values.index(min(values))}
        decile = deciles[feature]
        reported = quote(stated_002, statement=key)
        yield cell_check(
            reported.interval.low <= 10 * decile and 10 * (decile + 1) <= reported.interval.high,
            f"The {feature} of {row['display_name']} is at {10 * decile} to {10 * (decile + 1)} % "
            f"({values[decile]:.3f}).",
            reported=reported.printed,
            recomputed=f"{10 * decile} to {10 * (decile + 1)} %",
            key=key,
            statement=f"{row['display_name']}, {pick(stated_002, statement=key)['quantity']}: {reported.printed}.",
        )


@claim("002, Hypothesis H8")
def c002_h8_depth(stated_002: pd.DataFrame, nope_recovery_recomputed: pd.DataFrame) -> list[Verdict]:
    """The pattern appears in models with 32 layers or more."""
    return [
        replace(
            judge_recovery_depth(stated_002, key, nope_recovery_recomputed),
            key=key,
            statement=f"{pick(stated_002, statement=key)['quantity']}: {printed_text(stated_002, statement=key)}.",
        )
        for key in ("h8_layers_from", "h8_layers_least")
    ]


@claim("002, Hypothesis H7")
def c002_failing_lengths(stated_002: pd.DataFrame, published_ruler: pd.DataFrame) -> Iterator[Verdict]:
    """Mistral-7B-Instruct-v0.2 fails on RULER at 64K and 128K tokens."""
    scores = published_ruler[published_ruler["model"] == MISTRAL].set_index("length")["value"]
    lengths = sorted(int(str(length).removesuffix("k")) for length, score in scores.items() if score < PASS_SCORE)
    for key, index in FAILING_LENGTHS.items():
        length = lengths[index]
        yield compare(
            quote(stated_002, statement=key),
            1000.0 * length,
            reason=f"The published scores are {', '.join(f'{score:g} at {name}' for name, score in scores.items())}; "
            f"below {PASS_SCORE:g} they are from {lengths[0]}k on.",
            places=0,
            key=key,
            statement=f"{pick(stated_002, statement=key)['quantity']}: {length}K.",
            kind="cell check",
        )


c002_windows_again = Cells(
    "The text repeats the window of 32K tokens.",
    "002, RULER analysis: Mistral-v0.2-7B",
    Repeats(
        Artifact("stated_002"),
        {
            "t8_mistral_window": WINDOW,
            "ruler_mistral_window": WINDOW,
            "ruler_mistral_context": LONGEST,
            "generations_heterogeneity_length": LONGEST,
        },
    ),
)


@claim("002, Decile Plasticity Profile, Table 4")
def c002_bins_again(stated_002: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The context is cut into ten bins of equal length."""
    bins = [name for name in decile_profiles.columns if name[:1] == "d" and name[1:].isdigit()]
    return compare(
        quote(stated_002, statement="t4_bins"),
        float(len(bins)),
        reason=f"Table 4 has {len(bins)} columns.",
        places=0,
        kind="cell check",
    )
