"""The DroPE report's experiments and wrong keys, against the control that the report lacks. Post hoc."""

from __future__ import annotations

import pandas as pd

from analysis.claims import ALPHA, Verdict, directed, judge, untestable
from analysis.statistics.multiplicity import holm_p

BASE = 400  # of what is said of one base
NEAR = 2.0  # training lengths


def thesis_population_experiments(population_experiments: pd.DataFrame) -> list[Verdict]:
    """What the DroPE report finds of removed positions is there beyond what training on with rotation does.

    Source: thesis, A population of small models.
    """
    asked = population_experiments[population_experiments["direction"].isin(["higher", "lower"])]
    tests = _corrected(asked)
    verdicts = []
    for _, row in asked.iterrows():
        told = f"Dropping the rotation makes this {row['direction']} than training on with it, as reported"
        statement = f"{told}: {row['label']}."
        key = str(row["quantity"])
        seeds = int(row["seeds"])
        least = 2.0 ** (1 - seeds)
        if pd.isna(row["difference"]):
            verdicts.append(
                untestable(
                    f"{str(row['note']).split(';')[0]}: a model that has it would decide it.",
                    key=key,
                    statement=statement,
                )
            )
            continue
        told = f"The difference is {row['difference']:+.3g} {row['unit']} over {seeds} seed{'s' if seeds > 1 else ''}"
        if least > ALPHA:
            verdicts.append(
                untestable(
                    f"{told}; so few give no exact p below {least:.3g}, and the other seeds would decide it.",
                    key=key,
                    statement=statement,
                )
            )
            continue
        verdicts.append(
            directed(
                float(row["difference"]),
                (float(row["difference_low"]), float(row["difference_high"])),
                1 if row["direction"] == "higher" else -1,
                f"{told}, whether or not they met the criterion (post hoc).",
                p_value=tests["p"].get(key),
                p_adjusted=tests["p_holm"].get(key),
                reported=f"{row['reported_drope']:.3g} against {row['reported_rope']:.3g}",
                recomputed=f"{row['dropped']:.3g} against {row['kept']:.3g}",
                n=seeds,
                key=key,
                statement=statement,
            )
        )
    return verdicts


def _corrected(asked: pd.DataFrame) -> pd.DataFrame:
    """By quantity Student's p of the difference over seeds, as its interval has it, and Holm's over all measurable."""
    from scipy import stats  # imported here: most claims need no distribution

    decided = asked[asked["appears"].isin(["yes", "opposite", "no"])].set_index("quantity")
    half = (decided["difference_high"] - decided["difference_low"]) / 2
    freedom = decided["seeds"] - 1
    t = decided["difference"].abs() / half * stats.t.ppf(1 - ALPHA / 2, freedom)
    p = pd.Series(2 * stats.t.sf(t, freedom), index=decided.index, dtype=float)
    known = p.dropna()
    return pd.DataFrame({"p": known, "p_holm": pd.Series(holm_p(list(known)), index=known.index, dtype=float)})


def thesis_population_miscounts(population_errors: pd.DataFrame) -> Verdict:
    """Of its wrong keys up to twice the training length, a model without rotation has more with a digit too many.

    Source: thesis, A population of small models.
    """
    own = population_errors[population_errors["base"] == BASE]
    near = own[(own["multiple"] <= NEAR) & (own["kind"] == "insertion")]
    wrong = near.groupby(["seed", "arm"])[["count", "errors"]].sum()
    share = (wrong["count"] / wrong["errors"]).unstack("arm").reindex(columns=["B", "C"]).dropna()
    if share.empty:
        return untestable("No seed has wrong keys of both arms yet; more of the plan would decide it.")
    more = int((share["C"] > share["B"]).sum())
    return judge(
        more == len(share),
        f"In {more} of {len(share)} seeds the share is larger without rotation: {share['C'].min():.0%} to "
        f"{share['C'].max():.0%}, with it {share['B'].min():.0%} to {share['B'].max():.0%}.",
        otherwise="not supported",
        recomputed=f"{more} of {len(share)}",
        n=len(share),
    )
