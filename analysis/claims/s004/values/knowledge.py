"""Document 004, Experiment 3: claims on how disruption affects parametric and contextual knowledge."""

import math
from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import pick_each, rows_where
from boundpaper.claims import ALPHA, EQUIVALENT, Verdict, claim, directed, judge, pick, quote, untestable
from boundpaper.claims.words import listed

TASKS = ("cities", "sports", "imdb", "passkey")


@claim("004, 4.1 Background")
def c004_jin_values(drope_stated: pd.DataFrame) -> list[Verdict]:
    """Jin et al. found a degradation of about 95 percent for contextual and 11 percent for parametric knowledge."""
    return [
        untestable(
            "The report quotes means without tasks, models or items; the accuracies per task in the cited paper would "
            "decide.",
            reported=quote(drope_stated, statement=f"s4_1_jin_{category}").printed,
            key=category,
            statement=f"Jin et al. report this degradation of {category} knowledge.",
        )
        for category in ("contextual", "parametric")
    ]


@claim("004, 4.1 Background")
def c004_same_methodology(drope_stated: pd.DataFrame, drope_captions: pd.DataFrame) -> Verdict:
    """The experiment replicates the method of Jin et al."""
    dimensions = quote(drope_stated, statement="s4_1_disrupted_dimensions")
    return untestable(
        f"The report states {dimensions.printed} dimension per head set to its mean, and the tasks, but neither "
        "prompts nor items; those, beside the cited paper's, would decide."
    )


@claim("004, 4.4 Key Findings")
def c004_rope_confirms_jin(knowledge_categories: pd.DataFrame, knowledge_tasks: pd.DataFrame) -> Verdict:
    """With rotary positions, disruption costs contextual knowledge more than parametric knowledge, as in Jin et al."""
    parametric, contextual = pick_each(knowledge_categories, positional="RoPE", category=("parametric", "contextual"))
    tasks = rows_where(knowledge_tasks, positional="RoPE", category="contextual")
    tasks_at_chance = [
        str(row["task"]).replace("imdb", "IMDB") for _, row in tasks.iterrows() if not row["base_low"] > row["chance"]
    ]
    return judge(
        bool(pd.notna(parametric["loss_high"]) and contextual["loss_low"] > parametric["loss_high"]),
        f"Contextual tasks lose {contextual['loss']:.1f} points [{contextual['loss_low']:.0f}, "
        f"{contextual['loss_high']:.0f}], parametric ones {parametric['loss']:.1f}"
        + (
            ", with no interval: the number of answers behind the parametric shares is not stored"
            if pd.isna(parametric["loss_high"])
            else f" [{parametric['loss_low']:.0f}, {parametric['loss_high']:.0f}]"
        )
        + f". Of the {len(tasks)} contextual tasks {listed(tasks_at_chance)} "
        f"{'have' if len(tasks_at_chance) > 1 else 'has'} a baseline not above chance.",
        otherwise="not supported" if contextual["loss"] > parametric["loss"] else "contradicted",
        recomputed=f"{contextual['loss'] - parametric['loss']:.1f} points",
        n=int(contextual["tasks"] + parametric["tasks"]),
    )


@claim("004, 4.4 Key Findings", failure="control")
def c004_rope_contextual(
    drope_stated: pd.DataFrame, knowledge_categories: pd.DataFrame, knowledge_tasks: pd.DataFrame
) -> Verdict:
    """With rotary positions contextual knowledge degrades by 94.3 percent."""
    row = pick(knowledge_categories, positional="RoPE", category="contextual")
    imdb = pick(knowledge_tasks, positional="RoPE", task="imdb")
    return judge(
        bool(row["tasks_above_chance"] == row["tasks"]),
        f"The mean reproduces; the IMDB baseline is {imdb['base']:.0f} % [{imdb['base_low']:.0f}, "
        f"{imdb['base_high']:.0f}] against a chance of {imdb['chance']:.0f} %, and {row['tasks_above_chance']} of "
        f"{row['tasks']} baselines are above it"
        + (
            "."
            if row["tasks_above_chance"] == row["tasks"]
            else f", so where one is not, there was nothing to lose; the fall of IMDB to {imdb['disrupted']:.0f} % "
            "counts answers that are neither option."
        ),
        otherwise="not supported",
        reported=quote(drope_stated, statement="s4_4_rope_contextual").printed,
        recomputed=f"{row['degradation']:.1f}%",
        n=int(row["tasks_above_chance"]),
    )


@claim("004, 4.4 Key Findings", failure="control")
def c004_rope_parametric_only(
    drope_stated: pd.DataFrame, knowledge_categories: pd.DataFrame, knowledge_tasks: pd.DataFrame
) -> Verdict:
    """With rotary positions parametric knowledge degrades by only 24.5 percent."""
    row = pick(knowledge_categories, positional="RoPE", category="parametric")
    cities, sports = (pick(knowledge_tasks, positional="RoPE", task=task) for task in ("cities", "sports"))
    return judge(
        abs(float(row["above_chance"] - row["degradation_printed"])) <= EQUIVALENT,
        f"Of the accuracy above chance, cities lose {cities['above_chance']:.0f} % and sports "
        f"{sports['above_chance']:.0f} %, as far as answers could be read: the shares are of {cities['base_n_low']} to "
        f"{cities['base_n_high']} and {sports['base_n_low']} to {sports['base_n_high']} answers at the baseline. Half "
        "of a yes/no accuracy cannot be lost, so a share of the whole is small by construction.",
        otherwise="not supported",
        reported=quote(drope_stated, statement="s4_4_rope_parametric").printed,
        recomputed=f"{row['above_chance']:.0f}% above chance",
        n=int(cities["n"] + sports["n"]),
    )


@claim("004, 4.3 Average Degradation by Category and Figure 9", failure="reading")
def c004_rope_ratio(drope_captions: pd.DataFrame, knowledge_categories: pd.DataFrame) -> Verdict:
    """With rotary positions contextual knowledge degrades 3.8 times more than parametric knowledge."""
    parametric, contextual = pick_each(knowledge_categories, positional="RoPE", category=("parametric", "contextual"))
    reported = quote(drope_captions, statement="fig_9_rope_ratio")
    ratio_above_chance = float(contextual["above_chance"] / parametric["above_chance"])
    return judge(
        abs(ratio_above_chance - reported.number) <= 0.5,
        f"The ratio of the printed means is {contextual['degradation'] / parametric['degradation']:.1f}; counted above "
        f"chance it is {contextual['above_chance']:.0f} over {parametric['above_chance']:.0f} %, "
        f"{ratio_above_chance:.1f}, since yes/no tasks can lose half of their accuracy at most and a passkey all of "
        "it.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{ratio_above_chance:.1f}",
    )


@claim("004, 4.4 Key Findings and 4.5 The Passkey Result")
def c004_rope_passkey(drope_stated: pd.DataFrame, knowledge_tasks: pd.DataFrame) -> Verdict:
    """With rotary positions passkey retrieval collapses completely, from 100 to 0 percent."""
    row = pick(knowledge_tasks, positional="RoPE", task="passkey")
    return judge(
        bool(row["disrupted"] == 0 and row["p_holm"] < ALPHA),
        f"{row['base_right']} of {row['n']} against {row['disrupted_right']}; the accuracy left is at most "
        f"{row['disrupted_high']:.0f} % (Wilson), Fisher's exact test, Holm over the tasks with counts.",
        reported=quote(drope_stated, statement="s4_5_rope_disrupted").printed,
        recomputed=f"{row['disrupted']:.1f}%",
        n=int(row["n"]),
        p_value=float(row["p_fisher"]),
        p_adjusted=float(row["p_holm"]),
        ci=(float(row["disrupted_low"]), float(row["disrupted_high"])),
    )


@claim("004, Figure 7")
def c004_fig7_range(drope_captions: pd.DataFrame, knowledge_tasks: pd.DataFrame) -> Verdict:
    """With rotary positions the contextual tasks degrade by 88 to 100 percent."""
    rows = rows_where(knowledge_tasks, positional="RoPE", category="contextual")
    reported = quote(drope_captions, statement="fig_7_rope_contextual")
    low, high = float(rows["degradation"].min()), float(rows["degradation"].max())
    is_cut = math.floor(low) == reported.interval.low + 0.5 != round(low)
    return judge(
        reported.interval.low <= low and high <= reported.interval.high,
        f"IMDB and passkey lose {low:.1f} and {high:.1f} % of their "
        f"baseline{'; the lower end is cut, not rounded' if is_cut else ''}.",
        reported=reported.printed,
        recomputed=f"{low:.1f} to {high:.1f}",
        n=len(rows),
    )


@claim("004, Figure 7")
def c004_fig7_more_robust(knowledge_tests: pd.DataFrame) -> Iterator[Verdict]:
    """DroPE is far more robust than RoPE on all tasks."""
    for task in TASKS:
        tests = rows_where(knowledge_tests, comparison=f"RoPE against DroPE, {task}", test="model_difference")
        if tests.empty:
            yield untestable(
                "The printed shares leave out answers that could not be read, and how many is not stored; right "
                "answers and answers read, by model and arm, would decide.",
                key=task,
                statement=f"DroPE loses less than RoPE on the {task} task.",
            )
            continue
        row = tests.iloc[0]
        yield directed(
            100 * float(row["estimate"]),
            (100 * float(row["ci_low"]), 100 * float(row["ci_high"])),
            1,
            f"RoPE loses {100 * row['estimate']:.1f} points more than DroPE, interval from {100 * row['ci_low']:.0f} "
            f"to {100 * row['ci_high']:.0f} points.",
            recomputed=f"{100 * row['estimate']:.1f} points",
            n=int(row["n"]),
            key=task,
            statement=f"DroPE loses less than RoPE on the {task} task.",
        )


@claim("004, 15 Publication Figures, Figure D")
def c004_figure_d_sign(drope_figures: pd.DataFrame, drope_knowledge: pd.DataFrame) -> Verdict:
    """Figure D draws the degradation of accuracy with the same sign as the table."""
    points = drope_figures[drope_figures["figure"] == "D"]
    degradations = drope_knowledge[drope_knowledge["metric"] == "degradation"]
    pairs = points.assign(task=points["x"].str.lower()).merge(
        degradations, left_on=["series", "task"], right_on=["positional", "task"], suffixes=("", "_table")
    )
    nonzero_pairs = pairs[(pairs["value"] != 0) & (pairs["value_table"] != 0)]
    same_sign_count = int((nonzero_pairs["value"] * nonzero_pairs["value_table"] > 0).sum())
    return judge(
        same_sign_count == len(nonzero_pairs),
        f"Its axis is called degradation, like the table's column, but {len(nonzero_pairs) - same_sign_count} of "
        f"{len(nonzero_pairs)} values that are not zero have the other sign: losses are drawn as negative.",
        recomputed=f"{same_sign_count} of {len(nonzero_pairs)}",
        n=len(nonzero_pairs),
    )
