"""Claims of the thesis on plasticity and benchmarks."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import numbers_of
from boundpaper.claims import ALPHA, Verdict, claim, judge, pick
from boundpaper.statistics import Estimate, leave_one_out, pearson, smallest_correlation, within_family

COEFFICIENTS = ("pearson", "spearman", "kendall")


@claim("thesis, Plasticity and benchmarks")
def thesis_smallest_correlation(lbp_correlations: pd.DataFrame) -> Verdict:
    """No metric correlates with LongBench Pro strongly enough for seven models to show it with 80 % power."""
    rows = lbp_correlations[lbp_correlations["test"] == "pearson"]
    needed_r = smallest_correlation(int(rows["n"].iloc[0]))
    top_row = rows.sort_values("estimate", key=abs).iloc[-1]
    return judge(
        bool(abs(top_row["estimate"]) < needed_r),
        f"80 % power at 0.05 needs |r| of {needed_r:.2f} with n = {int(top_row['n'])}; the largest of {len(rows)} "
        f"metrics is {abs(top_row['estimate']):.2f} ({top_row['comparison']})",
        recomputed=needed_r,
        n=int(top_row["n"]),
    )


@claim("thesis, Plasticity and benchmarks")
def thesis_no_metric_significant(lbp_correlations: pd.DataFrame, lbp_correlations_extended: pd.DataFrame) -> Verdict:
    """After correction for the number of metrics, no metric correlates significantly with the overall score."""
    rows = pd.concat([lbp_correlations, lbp_correlations_extended], ignore_index=True)
    rows = rows[rows["test"].isin(COEFFICIENTS)]
    top_row = rows.sort_values("p_adjusted").iloc[0]
    return judge(
        bool(top_row["p_adjusted"] >= 0.05),
        f"of {len(rows)} tests over 7 and 8 models the smallest p after Holm is {top_row['p_adjusted']:.2f} "
        f"({top_row['comparison']}, {top_row['test']}, n = {int(top_row['n'])}), before it {rows['p_value'].min():.3f}",
        otherwise="not supported",
        recomputed=float(top_row["p_adjusted"]),
        **numbers_of(top_row, "n", "p_value", "p_adjusted"),
    )


@claim("thesis, Plasticity and benchmarks")
def thesis_one_model_decides(lbp_correlations: pd.DataFrame) -> Verdict:
    """For every metric, leaving out one model removes nearly all evidence of a correlation."""
    rows = lbp_correlations[lbp_correlations["test"] == "pearson_leave_one_out"]
    overall = pick(rows, comparison="ap_overall")
    top_row = rows.sort_values("p_value").iloc[0]
    return judge(
        bool(rows["p_value"].min() > 0.4),
        f"the largest exact p with one of {int(overall['n'])} models left out is {top_row['p_value']:.2f} or more for "
        f"each of {len(rows)} metrics; r of ap_overall runs from {overall['effect_ci_low']:.2f} to "
        f"{overall['effect_ci_high']:.2f}",
        recomputed=float(top_row["p_value"]),
        p_value=float(top_row["p_value"]),
        n=int(overall["n"]),
    )


@claim("thesis, Plasticity and benchmarks")
def thesis_given_size(lbp_correlations: pd.DataFrame, lbp_correlations_extended: pd.DataFrame) -> Verdict:
    """At equal model size, aggregate plasticity goes with the score more closely than any other metric does."""
    strongest = []
    for frame in (lbp_correlations, lbp_correlations_extended):
        rows = frame[frame["test"] == "pearson_partial"].reset_index(drop=True)
        strongest.append((rows.sort_values("estimate", key=abs).iloc[-1], len(rows)))
    listing = " and ".join(
        f"partial r = {row['estimate']:.2f} (p = {row['p_value']:.3f}, Holm over {metric_count} metrics "
        f"{row['p_adjusted']:.3f}) with n = {int(row['n'])}"
        for row, metric_count in strongest
    )
    last = strongest[-1][0]
    return judge(
        all(row["comparison"] == "ap_overall" for row, _ in strongest),
        f"{listing}; the choice of this metric and covariate was made after seeing the data",
        recomputed=float(last["estimate"]),
        **numbers_of(last, "n", "p_value", "p_adjusted"),
    )


@claim("thesis, Plasticity and benchmarks")
def thesis_decline_goes_with_drop(
    length_decline: pd.DataFrame, length_decline_tests: pd.DataFrame, decline_joint: pd.DataFrame
) -> Verdict:
    """Models whose plasticity drops more lose more score from 8K to 128K, in all variants and with any one left out."""
    test = pick(length_decline_tests, comparison="ap_drop, nonthinking, n = 7", test="pearson")
    rows = _compared_models(length_decline)
    refits = leave_one_out(rows["ap_drop"], rows["decline"], study="thesis", comparison="drop", unit="model")
    joint, joint_any_start = (
        pick(decline_joint, comparison=f"drop and loss, variants {start}") for start in ("from 8k", "from every start")
    )
    return judge(
        bool(joint["p_adjusted"] < ALPHA and joint["estimate"] > 0 and (refits.effect_ci_low or 0) > 0.85),
        f"the median coefficient of all variants from 8K is {joint['estimate']:.2f} (p {joint['p_value']:.3f}, Holm "
        f"{joint['p_adjusted']:.3f}), with the starting length left open {joint_any_start['estimate']:.2f} (Holm "
        f"{joint_any_start['p_adjusted']:.3f}); without thinking r = {test['estimate']:.2f}, and with one of "
        f"{len(rows)} models left out {refits.effect_ci_low:.2f} to {refits.effect_ci_high:.2f}, p at most "
        f"{refits.p_value:.3f}",
        otherwise="not supported",
        recomputed=float(joint["estimate"]),
        **numbers_of(joint, "n", "p_value", "p_adjusted"),
    )


@claim("thesis, Plasticity and benchmarks")
def thesis_decline_checks(
    length_decline: pd.DataFrame, lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame
) -> list[Verdict]:
    """Four checks weaken the relation of plasticity drop and relative score loss (seven models, without thinking)."""
    rows = _compared_models(length_decline)
    drop, decline = rows["ap_drop"], rows["decline"]
    inside_families = within_family(
        drop, decline, list(rows["family"]), study="thesis", comparison="within families", unit="model"
    )
    is_ministral = (rows["family"] == "Ministral 3").astype(float)
    by_family = pearson(is_ministral, decline, study="thesis", comparison="membership", unit="model")
    by_drop = pearson(drop, decline, study="thesis", comparison="drop", unit="model")
    overall = rows["model"].map(matched_models.set_index("model")["ap_overall"])
    by_overall = pearson(overall, decline, study="thesis", comparison="ap_overall", unit="model")
    scores = lbp_lengths[lbp_lengths["mode"] == "nonthinking"].pivot(index="model", columns="length", values="lbp")
    decline_from_16k = rows["model"].map(1 - scores["128k"] / scores["16k"])
    from_16k = pearson(drop, decline_from_16k, study="thesis", comparison="from 16K", unit="model")
    return [
        _judge_test(
            inside_families,
            (inside_families.p_value or 0) >= 0.05,
            "Within families the relation is not seen.",
            f"r = {_r(inside_families):.2f} over {inside_families.n} models of families of two or more, p = "
            f"{inside_families.p_value:.2f} by relabelling inside families",
            "within",
        ),
        _judge_test(
            by_family,
            abs(_r(by_family)) > 0.8 and abs(_r(by_family)) < abs(_r(by_drop)),
            "Membership in Ministral 3 predicts the decline nearly as well as the drop does.",
            f"r = {_r(by_family):.2f} (p = {by_family.p_value:.3f}) for membership, {_r(by_drop):.2f} for the drop",
            "member",
        ),
        _judge_test(
            by_overall,
            abs(_r(by_drop)) - abs(_r(by_overall)) < 0.05,
            "Aggregate plasticity goes with the decline as closely as the drop does.",
            f"r = {_r(by_overall):.2f} (p = {by_overall.p_value:.3f}) for ap_overall, {_r(by_drop):.2f} for the drop",
            "overall",
        ),
        _judge_test(
            from_16k,
            (from_16k.p_value or 0) >= 0.05 and _r(from_16k) < _r(by_drop),
            "Counted from 16K instead of 8K, the relation is weaker and not significant.",
            f"r = {_r(from_16k):.2f} (p = {from_16k.p_value:.2f}) from 16K to 128K, {_r(by_drop):.2f} from 8K",
            "start",
        ),
    ]


@claim("thesis, Plasticity and benchmarks")
def thesis_ruler_one_model(ruler_correlations: pd.DataFrame, ruler_correlations_full_context: pd.DataFrame) -> Verdict:
    """One model, captured over a quarter of the context, sets the sign of the correlation of drop and RULER at 128K."""
    every_model, full_context = (
        pick(frame, comparison="ap_drop", test="pearson")
        for frame in (ruler_correlations, ruler_correlations_full_context)
    )
    return judge(
        bool(every_model["estimate"] > 0 > full_context["estimate"]),
        f"r = {every_model['estimate']:+.2f} over {int(every_model['n'])} models (p = {every_model['p_value']:.2f}) "
        f"and {full_context['estimate']:+.2f} over the {int(full_context['n'])} captured to 128K (p = "
        f"{full_context['p_value']:.2f})",
        recomputed=float(full_context["estimate"]),
        n=int(every_model["n"]),
    )


def _compared_models(length_decline: pd.DataFrame) -> pd.DataFrame:
    """Return the models that the source compares, in the prompt mode of its overall scores."""
    return length_decline[length_decline["in_source"].astype(bool) & (length_decline["mode"] == "nonthinking")]


def _r(test: Estimate) -> float:
    return float(test.estimate if test.estimate is not None else float("nan"))


def _judge_test(test: Estimate, true: bool, statement: str, reason: str, key: str) -> Verdict:
    return judge(
        true,
        reason,
        otherwise="not supported",
        recomputed=_r(test),
        n=test.n,
        p_value=test.p_value,
        key=key,
        statement=statement,
    )


@claim("thesis, Plasticity and benchmarks")
def thesis_decline_units(decline_units: pd.DataFrame) -> Iterator[Verdict]:
    """The drop is related to the lost share of the score; a relation to the lost points is not shown.

    The test covers all variants from 8K to 128K at once: it permutes the models' drops in all of them.
    """
    for unit, loss in (("share", "a larger share of their score"), ("points", "more points of their score")):
        row = pick(decline_units, mode="both", unit=unit)
        yield judge(
            bool(row["estimate"] > 0 and row["p"] < ALPHA),
            f"The median coefficient over all variants is {row['estimate']:.2f}.",
            otherwise="not supported",
            recomputed=f"{row['estimate']:.2f}",
            n=int(row["n"]),
            p_value=float(row["p"]),
            key=unit,
            statement=f"Models whose plasticity drops more lose {loss}, in all variants at once (post hoc).",
        )
