"""Claims on which models of the population learned to choose among passkeys, and on what depends on it; post hoc."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import min_to_max, rows_where
from analysis.claims.thesis._open import left_open
from boundpaper.claims import ALPHA, Verdict, claim, directed, judge, untestable
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.locations.student import student_interval
from boundpaper.statistics.multiplicity import holm_p
from boundpaper.statistics.proportion import wilson_interval

BASE = 400  # rotary base of the arms contrasted in the plan
LARGER = 10_000
FAR = {2.0: "two", 4.0: "four", 8.0: "eight"}
"""Lengths of the prompts that ask for far passkeys, in training lengths, and their words."""
METRIC = "ap_last_20"


@claim("thesis, A population of small models")
def thesis_population_learned(population_outcomes: pd.DataFrame, population_prompts: pd.DataFrame) -> Verdict:
    """All models trained further without rotation learn to tell the requested passkey from others; some with it do not.

    Post hoc. A model that guesses among the k passkeys of a prompt is right in 1 of k cases; a model has learned when
    the interval of its share at the training length (Wilson, 95 %) lies above 1/k.
    """
    return _judge_learned(_learned(population_outcomes, population_prompts))


@claim("thesis, A population of small models")
def thesis_population_learned_larger(population_outcomes: pd.DataFrame, population_prompts: pd.DataFrame) -> Verdict:
    """At base 10,000, all models trained further without rotation learn to tell passkeys apart; some with it do not.

    Post hoc, with six seeds of that base measured; same test as at the primary base.
    """
    return _judge_learned(_learned(population_outcomes, population_prompts, LARGER))


def _judge_learned(learned: pd.DataFrame) -> Verdict:
    if learned.empty:
        return untestable("No seed has both arms measured yet; more of the plan would decide it.")
    count_with, count_without, seeds = int(learned["B"].sum()), int(learned["C"].sum()), len(learned)
    return judge(
        count_without == seeds and count_with < seeds,
        f"Above guessing are {count_without} of {seeds} models trained further without rotation and {count_with} with "
        f"it; guessing gives {learned['guess'].mean():.0%}.",
        otherwise="not supported",
        recomputed=f"{count_with} of {seeds}",
        n=seeds,
    )


@claim("thesis, A population of small models")
def thesis_population_learners(
    population_outcomes: pd.DataFrame, population_prompts: pd.DataFrame
) -> Iterator[Verdict]:
    """If both models tell passkeys apart at the training length, the one without rotation finds more far passkeys.

    Post hoc: the primary contrast without seeds in which a model guesses among the passkeys of a prompt. Exact sign
    flips, Holm over the three lengths.
    """
    learned_by_seed = _learned(population_outcomes, population_prompts)
    learners = learned_by_seed.index[learned_by_seed["B"].astype(bool) & learned_by_seed["C"].astype(bool)].tolist()
    far_keys = population_outcomes[
        (population_outcomes["outcome"] == "keys_far")
        & (population_outcomes["encoding"] == "own")
        & (population_outcomes["base"] == BASE)
        & population_outcomes["seed"].isin(learners)
    ]
    shares = far_keys.pivot_table(index=["multiple", "seed"], columns="arm", values="value").reindex(columns=["B", "C"])
    statement = (
        "Without seeds in which a model guesses, dropping the rotation finds more far passkeys at {} training lengths."
    )
    differences = {
        multiple: (arms["C"] - arms["B"]).dropna().to_numpy(dtype=float)
        for multiple in FAR
        if len(arms := shares[shares.index.get_level_values("multiple") == multiple])
    }
    if not differences or min(map(len, differences.values())) < 2:
        reason = f"Seeds in which both models choose among passkeys: {len(learners)}; more of the plan would decide it."
        for multiple, words in FAR.items():
            yield untestable(reason, key=f"{multiple:g}x", statement=statement.format(words))
        return
    p = {multiple: sign_flip_p(values) for multiple, values in differences.items()}
    p_adjusted = dict(zip(p, holm_p([flips.p_value for flips in p.values()]), strict=True))
    for multiple, values in differences.items():
        mean, adjusted = float(values.mean()), float(p_adjusted[multiple])
        low, high = student_interval(values) or (mean, mean)
        yield directed(
            mean,
            (low, high),
            1,
            f"{100 * mean:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}] over {len(values)} seeds, exact p "
            f"{p[multiple].p_value:.3f}, corrected for three lengths {adjusted:.3f}.",
            recomputed=f"{100 * mean:.0f}",
            n=len(values),
            p_value=p[multiple].p_value,
            p_adjusted=adjusted,
            key=f"{multiple:g}x",
            statement=statement.format(FAR[multiple]),
        )


@claim("thesis, A population of small models")
def thesis_population_turns(population_outcomes: pd.DataFrame, population_prompts: pd.DataFrame) -> Verdict:
    """Late plasticity orders arms as their decline over length if the control tells passkeys apart, else in reverse.

    Post hoc: rank correlation over the arms A, B, C of a seed, positive where B learned and negative where not.
    """
    return left_open(_judge_turn(population_outcomes, _learned(population_outcomes, population_prompts), BASE))


@claim("thesis, A population of small models")
def thesis_population_turns_larger(population_outcomes: pd.DataFrame, population_prompts: pd.DataFrame) -> Verdict:
    """At base 10,000, too, late plasticity orders arms as decline if the control tells passkeys apart, else in reverse.

    Post hoc, with all seeds measured; same test as at the primary base.
    """
    return left_open(
        _judge_turn(population_outcomes, _learned(population_outcomes, population_prompts, LARGER), LARGER)
    )


def _judge_turn(outcomes: pd.DataFrame, learned: pd.DataFrame, base: int) -> Verdict:
    rows = rows_where(outcomes, encoding="own", base=base)
    rows = rows[rows["arm"].isin(["A", "B", "C"])]
    pairs = rows[rows["outcome"].isin([METRIC, "decline"])].pivot_table(
        index=["seed", "arm"], columns="outcome", values="value"
    )
    pairs = pairs.reindex(columns=[METRIC, "decline"]).dropna()
    rho: dict[bool, list[float]] = {True: [], False: []}
    for seed, control in zip(learned.index, learned["B"], strict=True):
        arms = pairs[pairs.index.get_level_values("seed") == seed]
        if len(arms) > 2:
            rho[bool(control)].append(float(arms[METRIC].corr(arms["decline"], method="spearman")))
    learned_rho, unlearned_rho = rho[True], rho[False]
    if not learned_rho or not unlearned_rho:
        return untestable("No seeds of both kinds are measured yet; more of the plan would decide it.")
    return judge(
        min(learned_rho) > 0 > max(unlearned_rho),
        f"The rank correlation is {min(learned_rho):+.2f} to {max(learned_rho):+.2f} where the control learned (seeds: "
        f"{len(learned_rho)}), {min(unlearned_rho):+.2f} to {max(unlearned_rho):+.2f} where it did not (seeds: "
        f"{len(unlearned_rho)}).",
        otherwise="not supported",
        recomputed=f"{len(learned_rho)} of {len(learned_rho) + len(unlearned_rho)}",
        n=len(learned_rho) + len(unlearned_rho),
    )


@claim("thesis, A population of small models")
def thesis_population_brief(population_outcomes: pd.DataFrame) -> Verdict:
    """After a fifth of the steps without rotation a model finds fewer passkeys at its training length than before.

    Post hoc. Exact sign flips over seeds of the shares of arms D and A.
    """
    at_length = rows_where(population_outcomes, outcome="keys_all", multiple=1.0, encoding="own", base=BASE)
    share = at_length.pivot_table(index="seed", columns="arm", values="value").reindex(columns=["A", "D"]).dropna()
    flips = sign_flip_p((share["D"] - share["A"]).to_numpy()) if len(share) else None
    if flips is None or flips.smallest >= ALPHA:
        return untestable(f"{len(share)} seeds have both arms; more of the plan would decide it.")
    fewer_count = int((share["D"] < share["A"]).sum())
    return judge(
        flips.p_value < ALPHA and share["D"].mean() < share["A"].mean(),
        f"Fewer in {fewer_count} of {len(share)} seeds, {share['D'].mean():.0%} against {share['A'].mean():.0%} on "
        f"average ({min_to_max(share['D'], '.0%')} after, {min_to_max(share['A'], '.0%')} before), exact p "
        f"{flips.p_value:.3g}.",
        otherwise="not supported",
        recomputed=f"{fewer_count} of {len(share)}",
        n=len(share),
    )


def _learned(outcomes: pd.DataFrame, prompts: pd.DataFrame, base: int = BASE) -> pd.DataFrame:
    """Return the share that guessing gets (`guess`) and whether arms B and C exceed it, for each seed with both."""
    shares = rows_where(outcomes, outcome="keys_all", multiple=1.0, encoding="own", base=base, arm=("B", "C"))
    prompts_at_length = prompts[prompts["multiple"] == 1.0]
    guess = (1.0 / prompts_at_length["keys"]).groupby(prompts_at_length["seed"]).mean()
    rows: dict[int, dict[str, object]] = {}
    for seed, arm, share, n in zip(shares["seed"], shares["arm"], shares["value"], shares["n"], strict=True):
        low, _ = wilson_interval(round(float(share) * int(n)), int(n))
        level = float(guess[int(seed)])
        rows.setdefault(int(seed), {"guess": level})[str(arm)] = low > level
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=["guess", "B", "C"]).dropna()
