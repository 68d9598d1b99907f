"""Claims that compare the DroPE report's experiments and wrong passkeys with a control that it lacks; post hoc."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import min_to_max
from boundpaper.claims import ALPHA, Verdict, claim, directed, untestable
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.locations.student import student_interval
from boundpaper.statistics.multiplicity import holm_p

BASE = 400  # rotary base of the wrong passkeys
NEAR = 2.0  # training lengths of the longest prompt whose wrong passkeys count
FEWEST = 6  # number of seeds below which no test of the plan can decide
MISCOUNTED = {"insertion": "digits put in", "run_deletion": "a digit of a run left out"}


@claim("thesis, A population of small models")
def thesis_population_experiments(population_experiments: pd.DataFrame) -> Iterator[Verdict]:
    """The effects that the DroPE report finds without rotation exceed those of further training with rotation."""
    asked_rows = population_experiments[population_experiments["direction"].isin(["higher", "lower"])]
    tests = _corrected_p(asked_rows)
    for _, row in asked_rows.iterrows():
        phrase = f"Dropping the rotation makes this {row['direction']} than further training with it, as reported"
        statement = f"{phrase}: {row['label']}."
        key = str(row["quantity"])
        seeds = int(row["seeds"])
        smallest_p = 2.0 ** (1 - seeds)
        if pd.isna(row["difference"]):
            yield untestable(
                f"{str(row['note']).split(';')[0]}: a model that has it would decide it.", key=key, statement=statement
            )
            continue
        phrase = f"The difference is {row['difference']:+.3g} {row['unit']} over {seeds} seed{'s' if seeds > 1 else ''}"
        if smallest_p > ALPHA:
            yield untestable(
                f"{phrase}; so few seeds give no exact p below {smallest_p:.3g}, and the other seeds would decide it.",
                key=key,
                statement=statement,
            )
            continue
        yield directed(
            float(row["difference"]),
            (float(row["difference_low"]), float(row["difference_high"])),
            1 if row["direction"] == "higher" else -1,
            f"{phrase}, whether or not they met the criterion (post hoc).",
            p_value=tests["p"].get(key),
            p_adjusted=tests["p_holm"].get(key),
            reported=f"{row['reported_drope']:.3g} against {row['reported_rope']:.3g}",
            recomputed=f"{row['dropped']:.3g} against {row['kept']:.3g}",
            n=seeds,
            key=key,
            statement=statement,
        )


def _corrected_p(asked_rows: pd.DataFrame) -> pd.DataFrame:
    """Return Student's p-value of each measurable quantity's difference over seeds, and Holm's correction of it."""
    from scipy import stats  # imported here: most claims need no distribution

    decided_rows = asked_rows[asked_rows["appears"] != "not measurable"].set_index("quantity")
    half_width = (decided_rows["difference_high"] - decided_rows["difference_low"]) / 2
    freedom = decided_rows["seeds"] - 1
    t = decided_rows["difference"].abs() / half_width * stats.t.ppf(1 - ALPHA / 2, freedom)
    p = pd.Series(2 * stats.t.sf(t, freedom), index=decided_rows.index, dtype=float)
    known = p.dropna()
    return pd.DataFrame({"p": known, "p_holm": pd.Series(holm_p(list(known)), index=known.index, dtype=float)})


@claim("thesis, A population of small models")
def thesis_population_miscounts(population_errors: pd.DataFrame) -> Iterator[Verdict]:
    """Without rotation, more of a model's wrong answers have an inserted digit, or lack one of several equal digits.

    Post hoc, up to twice the training length. Inserted digits were asked about first; lost digits were added because
    the answers that the DroPE report quotes have lost a digit of a run. Exact sign flips, Holm over both kinds.
    """
    shares_by_kind = {kind: _share_of_wrong_keys(population_errors, kind) for kind in MISCOUNTED}
    differences = {
        kind: (shares["C"] - shares["B"]).to_numpy(dtype=float)
        for kind, (shares, _) in shares_by_kind.items()
        if len(shares) >= FEWEST
    }
    p = {kind: sign_flip_p(difference).p_value for kind, difference in differences.items()}
    p_adjusted = dict(zip(p, holm_p(list(p.values())), strict=True)) if p else {}
    for kind, phrase in MISCOUNTED.items():
        shares, counts = shares_by_kind[kind]
        statement = (
            f"Of its wrong passkeys up to twice the training length, a model without rotation has more with {phrase}."
        )
        if kind not in differences:
            reason = f"{len(shares)} seeds have wrong passkeys of both arms; more of the plan would decide it."
            yield untestable(reason, key=kind, statement=statement)
            continue
        difference = differences[kind]
        larger_count, mean = int((difference > 0).sum()), float(difference.mean())
        yield directed(
            mean,
            student_interval(difference) or (mean, mean),
            1,
            f"In {larger_count} of {len(shares)} seeds the share is larger without rotation: "
            f"{min_to_max(shares['C'], '.0%')} ({counts['C'].min()} to {counts['C'].max()} keys), with it "
            f"{min_to_max(shares['B'], '.0%')} ({counts['B'].min()} to {counts['B'].max()}).",
            recomputed=f"{larger_count} of {len(shares)}",
            n=len(shares),
            p_value=p[kind],
            p_adjusted=float(p_adjusted[kind]),
            key=kind,
            statement=statement,
        )


def _share_of_wrong_keys(errors: pd.DataFrame, kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return, by seed and arm, what share of the wrong passkeys in shorter prompts is of a kind, and how many are."""
    rows = errors[(errors["base"] == BASE) & (errors["multiple"] <= NEAR) & (errors["kind"] == kind)]
    totals = rows.groupby(["seed", "arm"])[["count", "errors"]].sum()
    share = (totals["count"] / totals["errors"]).unstack("arm").reindex(columns=["B", "C"]).dropna()
    return share, totals["count"].unstack("arm").reindex(index=share.index, columns=["B", "C"])
