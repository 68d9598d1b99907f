"""Document 001, the three analyses: claims on components, on rotation and on plasticity."""

import math
from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, min_to_max
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.claims.words import listed

FAR = 8.0  # standard deviations of the score difference at which one key wins for every query


@claim("001, Three Mechanistic Analyses, One Dataset")
def c001_analyses_count(stated_001: pd.DataFrame, reported_analyses: pd.DataFrame) -> Verdict:
    """Three analyses are applied to the same captured vectors."""
    statement = pick(stated_001, statement="analyses_count")
    return cell_check(
        stated_number(statement) == len(reported_analyses),
        f"The overview names {listed([str(title) for title in reported_analyses['title']])}.",
        reported=statement["printed"],
        recomputed=str(len(reported_analyses)),
    )


@claim("001, PCA as Exploratory Precursor to Rotation")
def c001_component_numbers(stated_001: pd.DataFrame) -> list[Verdict]:
    """The first component of pooled queries and keys explains 34 % of variance; its r_q is 0.80, its r_k 0.49."""
    keys = ("pca_pc0_variance", "pca_r_q", "pca_r_k")
    return [
        untestable(
            "No table of components is printed, and neither the model nor the average behind the number is named; the "
            "components of the captured queries and keys would decide.",
            reported=str(row["printed"]),
            key=str(row["statement"]),
            statement=f"Components, {row['quantity']}: {row['printed']}.",
        )
        for row in (pick(stated_001, statement=key) for key in keys)
    ]


@claim("001, PCA as Exploratory Precursor to Rotation")
def c001_exact_scores() -> Verdict:
    """PCA and the analysis by rotation both rotate queries and keys, and keep every product of the two exactly."""
    return untestable(
        "A full orthogonal basis keeps the products; centring the pool or dropping components does not. Products "
        "before and after, on the captures, would decide which was used."
    )


@claim("001, PCA as Exploratory Precursor to Rotation")
def c001_orthogonal_residual(stated_001: pd.DataFrame) -> Verdict:
    """Directions orthogonal to the drift axis have exactly zero covariance with position, verified to 7.3e-15."""
    residual = quote(stated_001, statement="pca_residual")
    return untestable(
        "Zero follows from the definition of the axis, over the pool of queries and keys but not within either; the "
        "residual checks arithmetic only, and a run on a capture would give it.",
        reported=residual.printed,
    )


@claim("001, PCA as Exploratory Precursor to Rotation", failure="number")
def c001_drift_axis_means(
    stated_001: pd.DataFrame,
    reported_mechanistic: pd.DataFrame,
    reported_rotation_ruler: pd.DataFrame,
    models: pd.DataFrame,
) -> Verdict:
    """On the drift axis, r_k is about 0.87 and r_q about 0.74."""
    table = _table_of_correlations(reported_mechanistic, reported_rotation_ruler, models)
    by_family = {str(family): rows for family, rows in table.groupby("family")}
    means = {name: (rows["r_k_a"].mean(), rows["r_q_a"].mean()) for name, rows in {"all": table, **by_family}.items()}
    r_k, r_q = (quote(stated_001, statement=f"pca_rotation_{name}") for name in ("r_k", "r_q"))
    phrases = [f"{name} {key_mean:.2f} and {query_mean:.2f}" for name, (key_mean, query_mean) in means.items()]
    return judge(
        any(
            r_k.interval.low <= key_mean <= r_k.interval.high and r_q.interval.low <= query_mean <= r_q.interval.high
            for key_mean, query_mean in means.values()
        ),
        f"The models behind the two numbers are not named; means over the {len(table)} models printed in the second "
        f"study are, for r_k and r_q, {'; '.join(phrases)}.",
        otherwise="not supported",
        reported=f"{r_k.printed} and {r_q.printed}",
        recomputed=f"{means['all'][0]:.2f} and {means['all'][1]:.2f}",
        n=len(table),
    )


@claim("001, PCA as Exploratory Precursor to Rotation")
def c001_keys_stronger(
    reported_mechanistic: pd.DataFrame, reported_rotation_ruler: pd.DataFrame, models: pd.DataFrame
) -> Verdict:
    """On the drift axis, keys encode position more strongly than queries."""
    table = _table_of_correlations(reported_mechanistic, reported_rotation_ruler, models)
    exceptions = table[table["r_q_a"] >= table["r_k_a"]]
    phrases = [f"{row['display_name']} ({row['r_q_a']:.3f} > {row['r_k_a']:.3f})" for _, row in exceptions.iterrows()]
    return judge(
        exceptions.empty,
        f"It holds in {len(table) - len(exceptions)} of {len(table)} models with printed values"
        + (f"; in {listed(phrases)} queries follow position more closely." if phrases else "."),
        reported="more strongly",
        recomputed=f"{len(table) - len(exceptions)} of {len(table)}",
        n=len(table),
    )


def _table_of_correlations(mechanistic: pd.DataFrame, ruler: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    printed_rows = pd.concat([mechanistic, ruler])
    printed_rows = printed_rows[printed_rows["metric"].isin(["r_k_a", "r_q_a"])]
    table = printed_rows.pivot(index="model", columns="metric", values="value").reset_index()
    return table.merge(models[["model", "display_name", "family"]], on="model")


@claim("001, Rotation and Plasticity: Complementary Questions")
def c001_plasticity_limits(stated_001: pd.DataFrame) -> Iterator[Verdict]:
    """Plasticity goes to zero where position dominates and to one where content does."""
    for key, ratio in (("position", FAR), ("content", 0.0)):
        p = 0.5 * (1 + math.erf(ratio / math.sqrt(2)))
        yield compare(
            quote(stated_001, statement=f"complementary_limit_{key}"),
            4 * p * (1 - p),
            reason=f"4 p (1 - p) with p the normal probability of {ratio:g} standard deviations.",
            key=key,
            statement=f"Plasticity where {key} dominates.",
        )


@claim("001, Gaps Plasticity Closes")
def c001_gap_profile(decile_profiles: pd.DataFrame) -> Verdict:
    """A single number per head hides where in the context a head loses flexibility; the profile by bucket shows it."""
    first, last = decile_profiles["d0"], decile_profiles["d9"]
    fall = 100 * (1 - last / first)
    return judge(
        bool((fall > 0).all()),
        f"From the first decile to the last plasticity falls by {min_to_max(fall, '.0f')} % in {len(fall)} models.",
        recomputed=f"{min_to_max(fall, '.0f')} %",
        n=len(fall),
    )
