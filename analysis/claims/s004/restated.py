"""Document 004: claims on settings and factors that prose and captions repeat, each judged like its first mention."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, count_check, rows_where
from boundpaper.claims import Artifact, Cells, Repeats, Verdict, claim, compare, judge, pick, quote
from boundpaper.claims.repeats import mark_repeat
from boundpaper.claims.worded_numbers import stated_number

STATED = Artifact("drope_stated")
CAPTIONS = Artifact("drope_captions")
OPENING = Artifact("drope_stated", "the opening")

MLP_OVER_ATTENTION = STATED(statement="s7_4_rope_mlp_over_attention").by("c004_mlp_over_attention.number")
EITHER_ABLATION = OPENING(statement="deeper_drope_either_ablation").by(
    "c004_abstract_about_200.layer1_mlp", "c004_abstract_about_200.layer1_attn"
)
NORM_RATIO = STATED(statement="s9_5_qk_norm_ratio").by("c004_con_hundredfold")
LAYERS = OPENING(statement="deeper_layers").by("c004_layers_and_heads.layers")
TRAINING_LENGTH = STATED(statement="s11_1_training_length").by("c004_ctx_training_length")
NEAR_MISS_DIGITS = STATED(statement="s11_4_near_miss_digits").by("c004_ans_near_miss_example")
CONTEXT_MULTIPLE = Artifact("drope_context_multiples", "the table of section 11.2")(context=8192).by(
    "c004_ctx_multiples.8192"
)


c004_repeated_factors = Cells(
    "The text repeats the factors of layer 1: 725 of MLP over attention, 200 of either part, 100 of the norms.",
    "004, 7.5 Interpretation and later sections",
    Repeats(
        STATED,
        {
            **{f"{place}_rope_mlp_over_attention": MLP_OVER_ATTENTION for place in ("s8_4", "s9_1")},
            **{f"{place}_drope_either": EITHER_ABLATION for place in ("s7_5", "s8_4", "s9_1")},
            **{f"{place}_qk_norm_ratio": NORM_RATIO for place in ("deeper", "s9_6", "s11_4", "s11_6", "s11_8")},
        },
    ),
)


c004_repeated_factor_captions = Cells(
    "The captions repeat the factor of the norms and the ranking accuracies.",
    "004, 9.3 Results, Figure 21; Figures F and J",
    Repeats(
        CAPTIONS,
        {
            "fig_21_qk_norm_ratio": NORM_RATIO,
            "fig_f_qk_norm_ratio": NORM_RATIO,
            "fig_j_rope_ranking": Artifact("drope_tradeoff", "the table of section 11.8")(
                aspect="verification_range", positional="RoPE"
            ).by("c004_rank_rope"),
            "fig_j_drope_ranking": STATED(statement="s11_4_chance").by("c004_rank_drope.level"),
        },
    ),
)


c004_repeated_settings = Cells(
    "The text repeats layers, lengths and digits.",
    "004, 2.1 Method and later sections",
    Repeats(
        STATED,
        {
            "meaning_rope_layers": LAYERS,
            "s2_1_layers": LAYERS,
            "s11_1_limit_context": TRAINING_LENGTH,
            "s11_5_rope_within_context": TRAINING_LENGTH,
            "s11_5_near_miss_digits": NEAR_MISS_DIGITS,
            "s11_6_near_miss_digits": NEAR_MISS_DIGITS,
            "s11_6_passkey_digits": STATED(statement="s11_4_passkey_digits").by("c004_rank_digits"),
            "s11_5_rope_within_exact": Artifact("drope_context", "the table of section 11.2")(
                positional="RoPE", context=4096
            ).by("c004_ctx_rope_collapses"),
        },
    ),
    Repeats(
        STATED,
        {
            "s4_5_drope_degradation": Artifact("drope_knowledge", "the table of tasks")(
                positional="DroPE", task="passkey", metric="degradation"
            ).by("c004_drope_passkey_unaffected")
        },
        words=True,
    ),
)


@claim("004, 11.6 Revised Interpretation")
def c004_repeated_lengths(drope_stated: pd.DataFrame, drope_errors: pd.DataFrame) -> Iterator[Verdict]:
    """The lengths called short, medium and extended are those of the error tables."""
    lengths = sorted(set(drope_errors["context"].astype(int)))
    names = ("s11_6_short_context", "s11_6_medium_context", "s11_6_extended_context")
    beyond = {"s11_5_rope_beyond_context": max(lengths)}
    for key, length in {**dict(zip(names, lengths, strict=True)), **beyond}.items():
        reason = f"The error tables have the lengths {', '.join(map(str, lengths))}."
        yield count_check(drope_stated, key, length, reason)


@claim("004, 11.1 The Critical Distinction")
def c004_lengths_beyond(
    drope_stated: pd.DataFrame, drope_context: pd.DataFrame, models: pd.DataFrame
) -> Iterator[Verdict]:
    """The reported range of test lengths beyond training equals the table's."""
    limit = int(pick(models, model="llama2-7b-rope")["claimed_context"])
    lengths_beyond = sorted({int(context) for context in drope_context["context"] if int(context) > limit})
    reported = quote(drope_stated, statement="s11_1_beyond_contexts")
    ends = {"first": (reported.interval.low, lengths_beyond[0]), "last": (reported.interval.high, lengths_beyond[-1])}
    for key, (printed_end, end) in ends.items():
        yield cell_check(
            abs(printed_end - end) <= 1,
            f"The table has {' and '.join(map(str, lengths_beyond))} tokens beyond {limit}.",
            reported=reported.printed,
            recomputed=str(end),
            key=key,
            statement=f"The {key} of the lengths tested beyond the training length is that of the table.",
        )


c004_repeated_multiples = Cells(
    "The prose and the captions of Figures 24 and H repeat the multiple of the longest context.",
    "004, 11.3 The Crossover; Figures 24 and H",
    Repeats(STATED, {"s11_3_drope_multiple": CONTEXT_MULTIPLE}),
    Repeats(CAPTIONS, {"fig_24_drope_multiple": CONTEXT_MULTIPLE, "fig_h_drope_multiple": CONTEXT_MULTIPLE}),
)


@claim("004, 2.2 Results, Figure 1")
def c004_error_bars(
    drope_captions: pd.DataFrame, drope_figures: pd.DataFrame, drope_massive_counts: pd.DataFrame
) -> Verdict:
    """The error bars of the counts span one standard deviation to each side, as Figure A draws them."""
    bars, deviations = [], []
    for _, row in rows_where(drope_figures, figure="A", metric="count_sd").iterrows():
        deviation = quote(
            drope_massive_counts, tensor=str(row["x"]).lower(), positional=row["series"], metric="count_sd"
        )
        bars.append(float(row["value"]))
        deviations.append(deviation.number)
    ratio = sum(bars) / sum(deviations)
    return compare(
        quote(drope_captions, statement="fig_1_error_bars"),
        ratio,
        reason=f"The {len(bars)} bars of Figure A sum to {sum(bars):.0f}, the deviations of the table to "
        f"{sum(deviations):.1f}.",
        places=2,
        n=len(bars),
        kind="cell check",
    )


@claim("004, 11.5 Error Analysis")
def c004_rope_within_errors(drope_stated: pd.DataFrame, error_shares: pd.DataFrame) -> Verdict:
    """Within its training length RoPE makes no error."""
    row = pick(drope_stated, statement="s11_5_rope_within_errors")
    longest = quote(drope_stated, statement="s11_5_rope_within_context").number
    trained_rows = error_shares[(error_shares["positional"] == "RoPE") & (error_shares["context"] <= longest)]
    errors = trained_rows[trained_rows["category"] != "exact"]
    trials = int(trained_rows.drop_duplicates("context")["trials"].sum())
    verdict = judge(
        int(errors["count"].sum()) == stated_number(row),
        f"{int(errors['count'].sum())} of {trials} answers up to {longest:.0f} tokens are wrong.",
        reported=str(row["printed"]),
        recomputed=str(int(errors["count"].sum())),
        n=trials,
    )
    return mark_repeat(verdict, "c004_ctx_rope_collapses")


@claim("004, 12.2 Implications for Context Extension")
def c004_advised_lengths(drope_stated: pd.DataFrame, drope_context_multiples: pd.DataFrame) -> Iterator[Verdict]:
    """The advice names the training length for RoPE and twice as much for DroPE."""
    lengths = sorted(int(context) for context in drope_context_multiples["context"])
    advice = {
        "s12_2_rope_context": (lengths[0], "c004_dis_rope_within"),
        "s12_2_drope_context": (lengths[-1], "c004_dis_only_option"),
    }
    for key, (length, judged_by) in advice.items():
        statement = quote(drope_stated, statement=key)
        verdict = cell_check(
            round(statement.number / 1000) == length // 1024,
            f"The table of section 11.2 has {length:,} tokens, {length // 1024} x 1,024.",
            reported=statement.printed,
            recomputed=f"{length:,}",
            key=key,
            statement=f"{pick(drope_stated, statement=key)['quantity']}: {statement.printed}.",
        )
        yield mark_repeat(verdict, judged_by)
