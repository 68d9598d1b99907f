"""Document 004, Experiment 10: claims on telling the exact number from near-misses, by yes/no answers or by ranking."""

import pandas as pd

from analysis.claims._shared import min_to_max, numbers_of, printed_text, rows_where
from boundpaper.claims import ALPHA, EQUIVALENT, Artifact, Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.effects import directed, equivalent
from boundpaper.claims.relations import Cells, Relation
from boundpaper.claims.words import of_trials, p

CHOICES = 4  # the exact number and three near-misses
TRAINING_LENGTH = 4096
FIGURE_J = Artifact("drope_figures").where(figure="J")


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_digits(drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """The numbers have seven digits."""
    row = pick(drope_protocols, section="11.4")
    return compare(
        quote(drope_stated, statement="s11_4_passkey_digits"),
        float(row["passkey_digits"]),
        reason=f"The script of section 11.4 draws numbers of {row['passkey_digits']} digits.",
        places=0,
    )


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_negligible(drope_stated: pd.DataFrame, drope_verification: pd.DataFrame) -> Verdict:
    """P(yes) differs between exact number and near-miss by about 1 to 2 % in both models."""
    reported = quote(drope_stated, statement="s11_4_discrimination")
    cells = drope_verification.assign(percent=100 * drope_verification["value"])
    is_in_range = cells["percent"].between(reported.interval.low, reported.interval.high)
    # a value printed to hundredths may be off by half a hundredth
    can_round = (100 * cells["high"] >= reported.interval.low) & (100 * cells["low"] <= reported.interval.high)
    listing = ", ".join(
        f"{row['positional']} at {row['context']} ({row['printed']})" for _, row in cells[~is_in_range].iterrows()
    )
    return judge(
        bool(is_in_range.all()),
        f"{int(is_in_range.sum())} of {len(cells)} cells print it; {listing or 'none'} reaches the range by its "
        "rounding only.",
        otherwise="holds after rounding" if bool(can_round.all()) else "contradicted",
        reported=reported.printed,
        recomputed=f"{min_to_max(cells['percent'], '.0f')} %",
        n=len(cells),
    )


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_neither(drope_stated: pd.DataFrame, ranking_tests: pd.DataFrame) -> Verdict:
    """Neither model can reliably tell the exact number from a near-miss by its yes/no answer."""
    rows = ranking_tests[(ranking_tests["study"] == "against_chance") & (ranking_tests["p_adjusted"] < 0.05)]
    models = sorted({str(name).split(",")[0] for name in rows["comparison"]})
    listing = ", ".join(f"{row['comparison']}: {p(row['p_adjusted'])}" for _, row in rows.iterrows())
    return judge(
        not models,
        (
            "The ranking test uses the same P(yes): neither model puts the exact number first more often than chance "
            "at any length after Holm's correction.",
            f"The ranking test uses the same P(yes): {' and '.join(models)} puts the exact number first more often "
            f"than chance (Holm, {listing}), so its answers do distinguish them, by small but regular differences.",
        ),
        reported=printed_text(drope_stated, statement="s11_4_verifying_models"),
        recomputed=" and ".join(models),
        n=len(rows),
    )


@claim("004, 11.4 Investigating Failure Modes, verification table")
def c004_rank_difference_measures(drope_verification: pd.DataFrame, ranking_cells: pd.DataFrame) -> Verdict:
    """A larger difference of P(yes) means better discrimination."""
    gaps = drope_verification.pivot(index="context", columns="positional", values="value")
    ranks = ranking_cells.pivot(index="context", columns="positional", values="share")
    is_wider, is_worse = (gaps["DroPE"] > gaps["RoPE"]), (ranks["DroPE"] < ranks["RoPE"])
    return judge(
        not bool((is_wider & is_worse).any()),
        f"DroPE's difference is the larger one at {int(is_wider.sum())} of {len(gaps)} lengths, RoPE's ranking the "
        f"better one at {int(is_worse.sum())}, both at {int((is_wider & is_worse).sum())}"
        + (
            ": there the two measures of the same answers point in opposite directions."
            if (is_wider & is_worse).any()
            else "."
        ),
        otherwise="not supported",
        n=len(gaps),
    )


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_rope(drope_stated: pd.DataFrame, ranking_cells: pd.DataFrame, ranking_tests: pd.DataFrame) -> Verdict:
    """Within the training length RoPE ranks the exact number first in 80 to 90 % of the trials."""
    rows = ranking_cells[(ranking_cells["positional"] == "RoPE") & (ranking_cells["context"] <= TRAINING_LENGTH)]
    reported = quote(drope_stated, statement="s11_4_rope_ranking")
    tests = [pick(ranking_tests, study="against_chance", comparison=f"RoPE, {context}") for context in rows["context"]]
    largest_p = max(float(test["p_adjusted"]) for test in tests)
    return judge(
        bool(rows["share"].between(reported.interval.low, reported.interval.high).all()) and largest_p < 0.05,
        f"{'; '.join(of_trials(row) for _, row in rows.iterrows())}; the largest Holm {p(largest_p)} against chance.",
        reported=reported.printed,
        recomputed=f"{min_to_max(rows['share'], '.0f')} %",
        n=int(rows["trials"].sum()),
        p_value=max(float(test["p_value"]) for test in tests),
        p_adjusted=largest_p,
    )


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_tiny_margin(drope_verification: pd.DataFrame) -> Verdict:
    """The correct number usually wins by a tiny margin in RoPE."""
    rope_gaps = drope_verification[drope_verification["positional"] == "RoPE"]["value"]
    return untestable(
        f"Mean differences of {min_to_max(rope_gaps, '.2f')} are printed without spread; the margins of single trials "
        "would decide it."
    )


@claim("004, 11.4 Investigating Failure Modes; Figure J")
def c004_rank_chance(drope_stated: pd.DataFrame, drope_figure_axes: pd.DataFrame) -> list[Verdict]:
    """Chance is 25 % among one exact number and three near-misses."""
    distractors = quote(drope_stated, statement="s11_4_distractors").number
    sources = {
        "text": (drope_stated, {"statement": "s11_4_chance"}),
        "figure": (drope_figure_axes, {"figure": "J", "element": "reference_line"}),
    }
    return [
        compare(
            quote(frame, **where),
            100 / (1 + distractors),
            reason=f"1 / (1 + {distractors:.0f}).",
            places=0,
            key=key,
            statement=f"The level of chance in the {key} is one in four.",
            kind="cell check",
        )
        for key, (frame, where) in sources.items()
    ]


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_drope(ranking_tests: pd.DataFrame, drope_stated: pd.DataFrame) -> list[Verdict]:
    """DroPE ranks at chance, so it cannot systematically favour the exact number."""
    cells = ranking_tests[
        (ranking_tests["study"] == "against_chance") & ranking_tests["comparison"].str.startswith("DroPE")
    ]
    pooled_test = pick(ranking_tests, study="pooled", comparison="DroPE, all contexts")
    ci = (100 * float(pooled_test["ci_low"]), 100 * float(pooled_test["ci_high"]))
    power = str(pooled_test["note"]).split("a true share of 0.4 reaches with probability ")[1].split(" ")[0]
    return [
        equivalent(
            ci,
            EQUIVALENT,
            f"{int((cells['p_adjusted'] < ALPHA).sum())} of {len(cells)} lengths differ from chance (smallest Holm "
            f"{p(cells['p_adjusted'].min())}); all {pooled_test['n']} trials give {100 * pooled_test['estimate']:.0f} "
            f"% [{ci[0]:.0f}, {ci[1]:.0f}].",
            null=100 / CHOICES,
            reported=quote(drope_stated, statement="s11_4_chance").printed,
            recomputed=100 * float(pooled_test["estimate"]),
            **numbers_of(pooled_test, "n", "p_value"),
            key="level",
            statement="DroPE's ranking does not differ from chance.",
        ),
        judge(
            ci[1] < 30,
            f"{pooled_test['n']} trials leave {ci[0]:.0f} to {ci[1]:.0f} % open; a true 40 % would have been "
            f"distinguished from chance with probability {power}. Not finding a preference does not show that there is "
            "none.",
            otherwise="not supported",
            recomputed=100 * float(pooled_test["estimate"]),
            n=int(pooled_test["n"]),
            ci=ci,
            key="inability",
            statement="DroPE cannot systematically favour the exact number.",
        ),
    ]


@claim("004, 11.8 Summary")
def c004_rank_models(ranking_tests: pd.DataFrame) -> Verdict:
    """Within the training length RoPE ranks better than DroPE."""
    pooled_test = ranking_tests[ranking_tests["study"] == "models_within"].iloc[0]
    single_lengths = ranking_tests[
        (ranking_tests["study"] == "models")
        & ranking_tests["comparison"].isin(pooled_test["comparison"].split(" and "))
    ]
    return directed(
        100 * float(pooled_test["estimate"]),
        (100 * float(pooled_test["ci_low"]), 100 * float(pooled_test["ci_high"])),
        1,
        f"{100 * pooled_test['estimate']:.0f} points over {pooled_test['comparison']} tokens together (Fisher, Holm "
        f"with the single lengths {p(pooled_test['p_adjusted'])}), "
        + (
            "put together after no single length told them apart"
            if single_lengths["p_adjusted"].min() >= ALPHA
            else "of which single ones do too"
        )
        + f" (Holm {p(single_lengths['p_adjusted'].min())}).",
        recomputed=100 * float(pooled_test["estimate"]),
        **numbers_of(pooled_test, "n", "p_value", "p_adjusted"),
    )


@claim("004, 11.4 Investigating Failure Modes", failure="unit")
def c004_rank_puzzle(drope_stated: pd.DataFrame, context_cells: pd.DataFrame) -> Verdict:
    """DroPE ranks at chance but copies 80 % of the numbers at 8192 tokens, which is a puzzle."""
    context = int(quote(drope_stated, statement="s11_4_drope_copy_context").number)
    rows = rows_where(context_cells, positional="DroPE", context=context)
    copying, second_run = (pick(rows, protocol=protocol) for protocol in ("lengths", "errors"))
    return judge(
        bool((rows["share"] > 0).all()),
        f"The copying rests on {of_trials(copying)}; the next section has {of_trials(second_run)} at the same length"
        + (", where there is no puzzle." if second_run["share"] == 0 else "."),
        otherwise="not supported",
        reported=quote(drope_stated, statement="s11_4_drope_copy").printed,
        recomputed=f"{copying['share']:.0f} and {second_run['share']:.0f} %",
        n=int(rows["trials"].sum()),
    )


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_alignment(drope_verification: pd.DataFrame) -> Verdict:
    """Position embeddings are crucial for aligning digits, which is why DroPE cannot verify."""
    gaps = drope_verification.pivot(index="context", columns="positional", values="value")
    return judge(
        bool((gaps["RoPE"] > gaps["DroPE"]).all()),
        "With position embeddings the printed difference between exact and near-miss is larger at "
        f"{int((gaps['RoPE'] > gaps['DroPE']).sum())} of {len(gaps)} lengths (RoPE {min_to_max(gaps['RoPE'], '.2f')}, "
        f"DroPE {min_to_max(gaps['DroPE'], '.2f')}), and no test of digit alignment was made.",
        otherwise="not supported",
        n=len(gaps),
    )


@claim("004, 11.4 Investigating Failure Modes")
def c004_rank_mechanisms(drope_verification: pd.DataFrame) -> Verdict:
    """Generating and verifying a number use different mechanisms."""
    cell_count = len(drope_verification)
    return untestable(
        f"The {cell_count} yes/no cells and the copies come from different prompts and no internal measurement; "
        "ablating the same heads in both tasks would decide it."
    )


c004_rank_figure_j = Cells(
    "Figure J draws the ranking table.",
    "004, 15 Publication Figures, Figure J",
    Relation(
        each=FIGURE_J.rows("series", "x"),
        cell=FIGURE_J(series="{series}", x="{x}"),
        follows=Artifact("drope_ranking")(positional="{series}", context="{x!i}"),
        because="The ranking table prints {0}.",
        key="{series}-{x}",
        says="The cell {series}, {x} equals the ranking table.",
    ),
)
