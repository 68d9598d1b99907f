"""What the thesis says of the tasks of its own tiny pair, judged from measurements over training seeds."""

from __future__ import annotations

import pandas as pd

from analysis.claims import ALPHA, Verdict, directed, judge, pick

HELD = ("cities", "cities_open", "sports", "sports_open", "sentiment", "statements")
CONTEXT = ("passkey_1x", "verification_1x", "copy")


def thesis_lab_weights_keep(lab_task_scores: pd.DataFrame) -> Verdict:
    """Every model of the tiny pair, with positions or without, answers short questions on facts, tone and truth.

    Source: thesis, The same measurements on an open pair.
    """
    rows = lab_task_scores[lab_task_scores["metric"].isin(HELD)]
    least = rows[["rope_least", "drope_least"]].min().min()
    target = float(rows["target"].iloc[0])
    return judge(
        bool(least >= target) and len(rows) == len(HELD),
        f"The least share of {len(rows)} tasks, two models and {int(rows['seeds'].min())} seeds is "
        f"{100 * least:.1f} %; {100 * target:.0f} % were aimed at.",
        otherwise="contradicted",
        recomputed=f"{100 * least:.1f} %",
        n=int(rows["seeds"].min()),
    )


def thesis_lab_price_of_dropping(lab_task_scores: pd.DataFrame) -> list[Verdict]:
    """Within the training length the twin without positions does worse in tasks that read the context.

    Source: thesis, The same measurements on an open pair.
    """
    names = {
        "passkey_1x": "retrieves fewer keys",
        "verification_1x": "verifies fewer keys",
        "copy": "copies fewer lists",
    }
    found = []
    for metric in CONTEXT:
        row = pick(lab_task_scores, metric=metric)
        found.append(
            directed(
                100 * float(row["difference"]),
                (100 * float(row["difference_low"]), 100 * float(row["difference_high"])),
                -1,
                f"DroPE minus RoPE is {100 * row['difference']:+.1f} points, 95 % interval "
                f"[{100 * row['difference_low']:+.1f}, {100 * row['difference_high']:+.1f}] over "
                f"{int(row['seeds'])} seeds.",
                recomputed=f"{100 * row['difference']:+.1f} points",
                n=int(row["seeds"]),
                key=metric,
                statement=f"Within the training length the twin without positions {names[metric]} than the RoPE model.",
            )
        )
    return found


def thesis_lab_beyond(lab_context_differences: pd.DataFrame) -> list[Verdict]:
    """Beyond the training length the twin without positions retrieves more keys than the RoPE model.

    Source: thesis, The same measurements on an open pair.
    """
    found = []
    for ratio in (1.5, 2.0, 4.0):
        row = pick(lab_context_differences, ratio=ratio)
        wins, seeds = int(row["wins"]), int(row["seeds"])
        found.append(
            directed(
                100 * float(row["difference"]),
                (100 * float(row["difference_low"]), 100 * float(row["difference_high"])),
                1,
                f"DroPE retrieves more in {wins} of {seeds} seeds; on average {100 * row['drope']:.1f} against "
                f"{100 * row['rope']:.1f} %, difference {100 * row['difference']:+.1f} points "
                f"[{100 * row['difference_low']:+.1f}, {100 * row['difference_high']:+.1f}].",
                recomputed=f"{100 * row['difference']:+.1f} points",
                n=seeds,
                key=f"{ratio:g}x",
                statement=(
                    f"At {ratio:g} times the training length the twin without positions retrieves more keys than the "
                    "RoPE model."
                ),
            )
        )
    return found


def thesis_lab_yarn(lab_context_scores: pd.DataFrame) -> Verdict:
    """Stretching the rotation by YaRN, without any training, retrieves as many keys at twice the length as dropping it.

    Source: thesis, The same measurements on an open pair.
    """
    yarn, drope, plain = (
        pick(lab_context_scores, encoding=encoding, ratio=2.0) for encoding in ("yarn", "drope", "rope")
    )
    return judge(
        float(yarn["value"]) >= float(drope["value"]),
        f"At twice the training length YaRN retrieves {100 * yarn['value']:.1f} %, DroPE {100 * drope['value']:.1f} %, "
        f"plain RoPE {100 * plain['value']:.1f} %, means over {int(yarn['seeds'])} seeds.",
        otherwise="contradicted",
        recomputed=f"{100 * yarn['value']:.1f} and {100 * drope['value']:.1f} %",
        n=int(yarn["seeds"]),
    )


def thesis_lab_miscounts(lab_error_classes: pd.DataFrame) -> list[Verdict]:
    """Without positions the tiny models lose count of digits, with them they mistake digits; neither cuts keys short.

    Source: thesis, The same measurements on an open pair.
    """
    kinds = {"drope": ("insertion", "run_deletion"), "rope": ("near_miss", "other_number")}
    words = {
        "drope": "add a digit or drop one out of a run of equal digits",
        "rope": "have the right length and wrong digits",
    }
    found = []
    for side, names in kinds.items():
        rows = lab_error_classes[lab_error_classes["side"] == side].set_index("kind")
        errors = int(rows["errors"].iloc[0])
        count, cut = int(rows.loc[list(names), "count"].sum()), int(rows["count"]["truncation"])
        found.append(
            judge(
                2 * count > errors and cut < count,
                f"{count} of {errors} wrong keys over all seeds and lengths {words[side]}; {cut} are cut short.",
                otherwise="contradicted",
                recomputed=f"{100 * count / errors:.0f} %",
                n=errors,
                key=side,
                statement=(
                    f"Most wrong keys of the tiny {'DroPE' if side == 'drope' else 'RoPE'} models {words[side]}, and "
                    "fewer are cut short."
                ),
            )
        )
    return found


def thesis_lab_prompts(lab_prompt_tests: pd.DataFrame) -> Verdict:
    """At twice the training length and beyond, DroPE is above RoPE on the same prompts in each tiny pair by itself.

    Source: thesis, The same measurements on an open pair.
    """
    rows = lab_prompt_tests[lab_prompt_tests["comparison"].str.match(r"(?:2|3|4)x,")]
    sure = (rows["estimate"] > 0) & (rows["p_adjusted"] < ALPHA)
    weakest = rows.sort_values("ci_low").iloc[0]
    return directed(
        100 * float(weakest["estimate"]),
        (100 * float(weakest["ci_low"]), 100 * float(weakest["ci_high"])),
        1,
        f"In {int(sure.sum())} of {len(rows)} lengths and seeds McNemar's test over {int(rows['n'].min())} prompts "
        f"finds DroPE above; the largest p after Holm's correction is {rows['p_adjusted'].max():.2g}.",
        recomputed=f"{int(sure.sum())} of {len(rows)}",
        p_value=float(rows["p_value"].max()),
        p_adjusted=float(rows["p_adjusted"].max()),
        n=len(rows),
    )
