"""Document 004, Experiment 2: claims on zeroing massive dimensions, and on what tests over seeds can show."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import USABLE, min_to_max, numbers_of
from analysis.vocabulary import PAIR
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed
from boundpaper.statistics import bound_holds, p_bound

BOUNDS = {  # statistic and comparison of the source -> comparison of the same test in `disruption_tests`
    ("paired_t_p", "RoPE"): "RoPE: massive against random",
    ("paired_t_p", "DroPE"): "DroPE: massive against random",
    ("independent_t_p", "RoPE against DroPE"): "RoPE against DroPE: massive minus random",
}


@claim("004, 3.1 Method")
def c004_disruption_settings(drope_stated: pd.DataFrame, disruption_trials: pd.DataFrame) -> Verdict:
    """The disruption was repeated with ten random seeds."""
    statement = quote(drope_stated, statement="s3_1_seeds")
    seed_counts = [int(count) for count in disruption_trials["seeds"]]
    is_control_only = bool((disruption_trials["massive_values"] == 1).all())
    return judge(
        all(count == statement.number for count in seed_counts),
        f"The published trials have {' and '.join(map(str, seed_counts))} seeds; a seed draws the random "
        f"control{' only' if is_control_only else ' and moves the massive run'}.",
        reported=statement.printed,
        recomputed=str(seed_counts[0]),
        n=seed_counts[0],
    )


@claim("004, 3.1 Method")
def c004_massive_minus_random(disruption_trials: pd.DataFrame) -> Verdict:
    """A larger difference between massive and random disruption means more reliance on massive values in particular."""
    random_nats = {str(row["positional"]): row["random_nats"] for _, row in disruption_trials.iterrows()}
    return untestable(
        f"The control zeroes as many random dimensions, which costs {random_nats['RoPE']:.3f} and "
        f"{random_nats['DroPE']:.3f} nats, but these carry less of the norm by definition, and whether massive ones "
        "can be among them is not stated; a control matched in norm would decide."
    )


@claim("004, 3.2 Results")
def c004_p_bounds(drope_disruption_statistics: pd.DataFrame, disruption_tests: pd.DataFrame) -> Iterator[Verdict]:
    """The three p-values lie below the bounds that are printed for them."""
    for (statistic, comparison), test_comparison in BOUNDS.items():
        bound = quote(drope_disruption_statistics, statistic=statistic, comparison=comparison)
        tests = disruption_tests[disruption_tests["unit"] == "seed"]
        test = pick(tests, comparison=test_comparison)
        p = float(test["p_value"])
        yield judge(
            bound_holds(p, bound.number),
            f"The same test on the published trials gives p = {p:.2g}; the tightest true bound by a power of ten is "
            f"{p_bound(p)}.",
            reported=f"p {bound.printed}",
            recomputed=f"{p:.2g}",
            n=int(test["n"]),
            p_value=p,
            key=f"{statistic}-{comparison.replace(' ', '-')}",
            statement=f"{test_comparison}: p {bound.printed}.",
        )


@claim("004, 3.2 Results", failure="unit")
def c004_seeds_as_unit(disruption_trials: pd.DataFrame, disruption_tests: pd.DataFrame) -> Verdict:
    """Tests over ten seeds show that massive disruption differs from random disruption, and the models from each
    other.
    """
    text_test = pick(
        disruption_tests, comparison=BOUNDS["independent_t_p", "RoPE against DroPE"], test="log_perplexity_contrast"
    )
    value_counts = [int(count) for count in disruption_trials["massive_values"]]
    return judge(
        min(value_counts) > 1,
        f"In the massive arm the {int(disruption_trials['seeds'].iloc[0])} seeds have {min(value_counts)} distinct "
        f"{'value, a copied one,' if min(value_counts) == 1 else 'values'} a model, on the text set that chose the "
        f"dimensions; the unit is the text set, n = {text_test['n']}, where Student's t gives p = "
        f"{text_test['p_value']:.3f} for normal changes and the signs alone allow none below "
        f"{2 / 2 ** int(text_test['n']):.2f}.",
        otherwise="not supported",
        recomputed=f"{text_test['estimate']:.1f} nats",
        **numbers_of(text_test, "n", "p_value", "ci"),
    )


@claim("004, 3.2 Results", failure="unit")
def c004_cohens_d(
    drope_disruption_statistics: pd.DataFrame, disruption_trials: pd.DataFrame, disruption_tests: pd.DataFrame
) -> Verdict:
    """The effect size exceeds d = 1000."""
    seeds = disruption_tests[disruption_tests["unit"] == "seed"]
    d_by_model = {model: float(pick(disruption_trials, positional=model)["mr_d"]) for model in PAIR}
    increase_alone = pick(seeds, comparison="RoPE against DroPE: massive increase alone")
    reported = quote(drope_disruption_statistics, statistic="cohens_d")
    is_above = min(d_by_model.values()) > reported.number
    return judge(
        bool(is_above and pd.notna(increase_alone["effect"])),
        "d of massive minus random, by its deviation with divisor n as the source's script has it, is "
        f"{listed([f'{d:,.0f} for {model}' for model, d in d_by_model.items()])}; the spread is that of the random "
        "control; for the massive increase alone "
        + ("d has no finite value." if pd.isna(increase_alone["effect"]) else f"d is {increase_alone['effect']:,.0f}."),
        otherwise="not supported" if is_above else "contradicted",
        reported=reported.printed,
        recomputed=f"{min(d_by_model.values()):,.0f}",
        n=int(disruption_trials["seeds"].min()),
    )


@claim("004, 3.2 Results", failure="unit")
def c004_reliance(
    drope_disruption_statistics: pd.DataFrame, disruption_ratios: pd.DataFrame, disruption_by_text: pd.DataFrame
) -> list[Verdict]:
    """The model with rotary positions relies 82 times more on massive values than DroPE does."""
    reported = quote(drope_disruption_statistics, statistic="reliance_ratio")
    ratios = disruption_ratios.set_index("text")
    selected = disruption_by_text.loc[disruption_by_text["selected"].astype(bool), "text"].iloc[0]
    selected_row, other_texts = ratios.loc[selected], ratios.drop(index=selected)
    return [
        compare(
            reported,
            float(selected_row["ratio_of_percentages"]),
            reason=f"Percent increases of perplexity on the {selected} set.",
            key="ratio",
            statement="The percent increases of the two models have the ratio 82.",
            kind="cell check",
        ),
        judge(
            bool((other_texts["ratio_of_percentages"].round() >= reported.interval.low).all()),
            f"A ratio of percent increases on the {selected} set, which chose the dimensions; on the other sets it is "
            f"{' and '.join(f'{value:.0f}' for value in other_texts['ratio_of_percentages'])}. In nats, which do not "
            f"depend on the baseline, RoPE loses {min_to_max(ratios['ratio_of_nats'], '.1f')} times as much.",
            otherwise="not supported",
            reported=reported.printed,
            recomputed=f"{other_texts['ratio_of_percentages'].min():.0f} to {selected_row['ratio_of_percentages']:.0f}",
            n=len(ratios),
            key="reliance",
        ),
    ]


@claim("004, One Weird Paradox and Figure 3")
def c004_only_degrades(disruption_by_text: pd.DataFrame) -> Verdict:
    """Zeroing the massive dimensions breaks RoPE; DroPE only degrades, which is not so bad."""
    drope = disruption_by_text[disruption_by_text["positional"] == "DroPE"]
    rope = disruption_by_text[disruption_by_text["positional"] == "RoPE"]
    listing = ", ".join(f"{row['massive_ratio']:.0f} times ({row['text']})" for _, row in drope.iterrows())
    return judge(
        bool((drope["massive_ratio"] < USABLE).all()),
        f"DroPE's perplexity rises to {listing} the baseline, {min_to_max(drope['massive_nats'], '.1f')} nats per "
        f"token, against {min_to_max(rope['massive_nats'], '.1f')} for RoPE; at ten times the perplexity or more, "
        "either model is broken.",
        otherwise="not supported",
        recomputed=f"{min_to_max(drope['massive_ratio'], '.0f')} times",
        n=len(drope),
    )


@claim("004, 3.3 Consistency")
def c004_text_types(
    drope_disruption_texts_reported: pd.DataFrame,
    disruption_by_text: pd.DataFrame,
    disruption_ratios: pd.DataFrame,
    drope_text_repeats: pd.DataFrame,
) -> Iterator[Verdict]:
    """The results hold across text types."""
    for model in PAIR:
        printed = drope_disruption_texts_reported[drope_disruption_texts_reported["positional"] == model]
        rows = disruption_by_text[disruption_by_text["positional"] == model]
        spread, printed_spread = (
            float(values.max() / values.min()) for values in (rows["massive_increase"], printed["value"])
        )
        yield judge(
            spread <= printed_spread + 0.05,
            f"The largest printed increase is {printed_spread:.2f} times the smallest, of the published ones "
            f"{spread:.1f} times: {min_to_max(rows['massive_increase'], ',.0f')} %.",
            reported=" and ".join(printed["printed"]),
            recomputed=f"{spread:.1f} times",
            n=len(rows),
            key=model,
            statement=f"The disruption of {model} is of the same size on every text type.",
        )
    differences = [(str(row["text"]), float(row["difference_nats"])) for _, row in disruption_ratios.iterrows()]
    is_in_every_text = all(nats > 0 for _, nats in differences)
    repeats = drope_text_repeats.loc[drope_text_repeats["experiment"].astype(str) == "2", "repeats"]
    has_unrepeated = bool((repeats == 1).any())
    yield judge(
        is_in_every_text and has_unrepeated,
        f"RoPE minus DroPE: {', '.join(f'{nats:.1f} nats ({text})' for text, nats in differences)}."
        + (
            ""
            if has_unrepeated
            else f" But the texts of every set are one passage repeated {repeats.min()} to {repeats.max()} times: "
            "these are three sets of repeated sentences, not types of text."
        ),
        otherwise="not supported" if is_in_every_text else "contradicted",
        failure="control" if is_in_every_text else "",
        n=len(differences),
        key="order",
        statement="RoPE loses more than DroPE on every text type.",
    )
