"""What the thesis says of its population of small models, and that it reports the tests that were planned."""

from __future__ import annotations

import pandas as pd

from analysis.claims import ALPHA, Verdict, directed, judge, pick, untestable
from analysis.statistics.multiplicity import holm_p

CONTRASTS = {
    "keys_far_4x": (1, "Trained on without rotation, a model finds more far keys than trained on with it."),
    "training_on": (1, "Training on with rotation by itself lets a model find more far keys."),
    "brief_drop": (1, "A fifth of the steps without rotation is enough to find more far keys."),
    "never_rotated": (1, "A model that never rotated finds more far keys than one that dropped its rotation."),
    "keys_near_1x": (-1, "Within the training length dropping the rotation costs keys."),
    "facts_held": (-1, "Dropping the rotation costs facts that the second phase left out."),
    "plasticity_drops": (-1, "Dropping the rotation lowers the plasticity of heads."),
    "bias_window_drops": (1, "Dropping the rotation raises the positional bias over the window."),
    "base_interaction": (1, "The smaller base of the rotation gains more from dropping it."),
    "keys_far_4x_10000": (
        1,
        "At base 10,000, a model trained on without rotation finds more far keys than one with it.",
    ),
}
RELATIONS = {
    "h1_plasticity": (-1, "Models whose late plasticity is higher lose fewer keys with length."),
    "h3_bias": (1, "Models with a larger positional bias a token lose more keys with length."),
    "h3_bias_window": (1, "Models with a larger positional bias over the window lose more keys with length."),
    "drop_decline": (1, "Models whose plasticity drops more within the window lose more keys with length."),
}

DAMAGES = {
    "head_damage": "Within a layer, the more plastic a head is, the more retrieval loses by its removal",
    "head_damage_late": "Within a layer, the more plastic a head is for late queries, the more its removal costs",
    "head_damage_bias": "Within a layer, the larger a head's bias a token is, the more its removal costs retrieval",
}
ALL = ", whether or not models met the criterion (post hoc)."
LENGTHS = {2.0: (1, "two"), 8.0: (-1, "eight")}
DOES = {1: "finds more of the keys near the question", -1: "costs keys near the question"}

BASES = (400, 10_000)  # of the rotation
TRAINED = 128  # words of a training sequence
CLIFF = 1.5  # training lengths
NEAR = 2.0  # training lengths
STRAY = 0.01  # share of keys that chance may find
BASE = 400  # of what is said of one base
FEWEST = 6  # seeds, below which no test of the plan can decide


def thesis_population_planned(
    population_plan: pd.DataFrame,
    population_contrasts: pd.DataFrame,
    population_relations: pd.DataFrame,
    population_head_damage: pd.DataFrame,
) -> Verdict:
    """The tests that the thesis reports of its population are those of the plan, all of them and no other.

    Source: thesis, A population of small models.
    """
    planned = set(population_plan["item"])
    reported = {*population_contrasts["item"], *population_relations["item"], *population_head_damage["item"]}
    return judge(
        planned == reported,
        f"{len(planned & reported)} tests are planned and reported, {len(planned - reported)} planned only, "
        f"{len(reported - planned)} reported only.",
        recomputed=f"{len(planned & reported)} of {len(planned | reported)}",
        n=len(planned),
    )


def thesis_population_contrasts(population_contrasts: pd.DataFrame) -> list[Verdict]:
    """What dropping the rotation does, against training on with it.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for item, (sign, statement) in CONTRASTS.items():
        row = pick(population_contrasts, item=item)
        verdicts.append(_verdict(row, "difference", sign, item, statement, f"{int(row['seeds'])} seeds"))
    return verdicts


def thesis_population_relations(population_relations: pd.DataFrame) -> list[Verdict]:
    """What goes with the loss of keys over length, where nothing else varies.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for item, (sign, statement) in RELATIONS.items():
        row = pick(population_relations, item=item)
        units = f"{int(row['models'])} models of {int(row['seeds'])} seeds"
        verdicts.append(_verdict(row, "rho", sign, item, statement, units))
    return verdicts


def thesis_population_heads(population_head_damage: pd.DataFrame) -> Verdict:
    """Within a layer, the more plastic a head is, the more retrieval loses by its removal.

    Source: thesis, A population of small models.
    """
    row = pick(population_head_damage, item="head_damage")
    return _verdict(row, "rho", 1, "", "", f"{int(row['models'])} models of {int(row['seeds'])} seeds")


def _verdict(row: pd.Series, value: str, sign: int, key: str, statement: str, units: str) -> Verdict:
    """Both directions, by the interval over seeds and the corrected test; what cannot be decided says what would."""
    if pd.isna(row[value]):
        return untestable(
            f"Planned, not measured yet: {row['note']}; the models of the plan would decide it.",
            key=key,
            statement=statement,
        )
    size, least = float(row[value]), float(row["p_least"])
    told = f"{value} {size:+.3g} over {units}"
    if least > ALPHA or pd.isna(row["low"]):
        return untestable(
            f"{told}; so few give no p below {least:.3g}, whatever they show, and the other seeds of the plan would "
            "decide it.",
            key=key,
            statement=statement,
        )
    low, high = float(row["low"]), float(row["high"])
    split = row["p_holm"] < ALPHA and low <= 0 <= high
    return directed(
        size,
        (low, high),
        sign,
        f"{told} [{low:+.3g}, {high:+.3g}], Holm-corrected p {row['p_holm']:.3g}, the least attainable {least:.3g}."
        + (" The exact test shows it, Student's interval over seeds does not, and both are asked." if split else ""),
        recomputed=f"{size:+.3g}",
        n=int(row["seeds"]),
        p_value=float(row["p"]),
        p_adjusted=float(row["p_holm"]),
        key=key,
        statement=statement,
    )


def thesis_population_every(population_contrasts_every: pd.DataFrame) -> list[Verdict]:
    """What dropping the rotation does, over all models that were trained: post hoc, beside the planned contrasts.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for item, (sign, statement) in CONTRASTS.items():
        row = pick(population_contrasts_every, item=item)
        told = f"{statement[:-1]}{ALL}"
        verdicts.append(_verdict(row, "difference", sign, item, told, f"{int(row['seeds'])} seeds"))
    return verdicts


def thesis_population_relations_every(population_relations_every: pd.DataFrame) -> list[Verdict]:
    """What goes with the loss of keys over length, over all models that were trained: post hoc, beside the planned.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for item, (sign, statement) in RELATIONS.items():
        row = pick(population_relations_every, item=item)
        units = f"{int(row['models'])} models of {int(row['seeds'])} seeds"
        verdicts.append(_verdict(row, "rho", sign, item, f"{statement[:-1]}{ALL}", units))
    return verdicts


def thesis_population_heads_every(population_head_damage_every: pd.DataFrame) -> list[Verdict]:
    """Within a layer, what a head is goes with what its removal costs, over all models that were trained: post hoc.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for item, statement in DAMAGES.items():
        row = pick(population_head_damage_every, item=item)
        units = f"{int(row['models'])} models of {int(row['seeds'])} seeds"
        verdicts.append(_verdict(row, "rho", 1, item, f"{statement}{ALL}", units))
    return verdicts


def thesis_population_near(population_near: pd.DataFrame) -> list[Verdict]:
    """Dropping the rotation changes how many keys near the question are found in long prompts, whatever the distance.

    Post hoc, at the primary base.

    Source: thesis, A population of small models.
    """
    verdicts = []
    for multiple, (sign, told) in LENGTHS.items():
        statement = f"In prompts of {told} training lengths dropping the rotation {DOES[sign]} (post hoc)."
        held = population_near[(population_near["base"] == BASE) & (population_near["compared"] == "C less B")]
        rows = held[held["multiple"] == multiple]
        key = f"{multiple:g}x"
        if rows.empty:
            why = "No seed has both arms at this length; those of the plan would decide it."
            verdicts.append(untestable(why, key=key, statement=statement))
            continue
        row = rows.iloc[0]
        verdicts.append(_verdict(row, "value", sign, key, statement, f"{int(row['seeds'])} seeds"))
    return verdicts


def thesis_population_cliff(population_distances: pd.DataFrame) -> list[Verdict]:
    """Models with rotation find fewer than one in a hundred keys farther off than one and a half training lengths.

    Post hoc at the base at which it was seen; at the other it was written down before a model of it was trained.

    Source: thesis, A population of small models.
    """
    far = population_distances[
        population_distances["arm"].isin(["A", "B"]) & (population_distances["low"] >= CLIFF * TRAINED)
    ]
    verdicts = []
    for base in BASES:
        statement = (
            f"At base {base:,} models with rotation find fewer than one in a hundred keys farther off than one and a "
            "half training lengths."
        )
        own = far[far["base"] == base]
        models = own.groupby("model")[["right", "n"]].sum()
        if (seeds := own["seed"].nunique()) < FEWEST:
            told = f"Seeds with a model at this base: {seeds}; the others of the plan would decide it."
            verdicts.append(untestable(told, key=str(base), statement=statement))
            continue
        share = models["right"] / models["n"]
        verdicts.append(
            judge(
                bool((share < STRAY).all()),
                f"Of the farther keys {len(models)} models with rotation find {int(models['right'].sum())} of "
                f"{int(models['n'].sum())}; the one that finds most finds {share.max():.1%}.",
                recomputed=f"{int(models['right'].sum())} of {int(models['n'].sum()):,}",
                n=len(models),
                key=str(base),
                statement=statement,
            )
        )
    return verdicts


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
