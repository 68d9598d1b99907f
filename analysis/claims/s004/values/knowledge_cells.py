"""Document 004, Experiment 3: checks of derived cells, repeated values, and the coordinates of Figure D."""

from collections.abc import Iterator

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Repeats, Verdict, claim, compare, quote
from boundpaper.claims.terms import ArtifactCell, mean, percent_lost

TASKS = ("cities", "sports", "imdb", "passkey")
STATED = Artifact("drope_stated")
KNOWLEDGE = Artifact("drope_knowledge", "the table of tasks")
AVERAGES = Artifact("drope_knowledge_categories", "the table of averages")
FIGURE_D = Artifact("drope_figures").where(figure="D")
SETTINGS = (  # statement; column and task of the setting in the script; what is counted
    *((f"s4_1_{task}_items", "n_3", task, f"items of {task}") for task in TASKS),
    ("s4_1_passkey_digits", "digits_3", "passkey", "digits of the passkey"),
    ("paradox_passkey_digits", "digits_3", "passkey", "digits of the passkey, in the opening"),
)


def _task_cell(model: str, metric: str, task: str = "passkey") -> ArtifactCell:
    return KNOWLEDGE(positional=model, task=task, metric=metric)


def _average_cell(model: str, metric: str) -> ArtifactCell:
    return AVERAGES(positional=model, metric=metric)


UNAFFECTED = _task_cell("DroPE", "degradation").by("c004_drope_passkey_unaffected")


c004_knowledge_settings = Cells(
    "The tasks have the stated numbers of items and digits in the repository's script.",
    "004, 4.1 Background",
    Relation(
        each={"statement, column, task, what": SETTINGS},
        cell=STATED(statement="{statement}"),
        follows=Artifact("knowledge_protocols").value("{column}", positional="RoPE", task="{task}"),
        because="The script has {0:.0f}.",
        places=0,
        key="{statement}",
        says="Number of {what}.",
    ),
)


@claim("004, 4.2 Results")
def c004_rates_are_counts(drope_knowledge: pd.DataFrame, drope_stated: pd.DataFrame) -> Iterator[Verdict]:
    """Every accuracy is a whole number of right items divided by the stated number of items."""
    for model in PAIR:
        for task in TASKS:
            n = int(quote(drope_stated, statement=f"s4_1_{task}_items").number)
            for arm in ("baseline", "disrupted"):
                rate = quote(drope_knowledge, positional=model, task=task, metric=arm)
                count = round(rate.number * n / 100)
                yield compare(
                    rate,
                    100 * count / n,
                    reason=f"{count} of {n}.",
                    key=f"{model}-{task}-{arm}",
                    statement=f"The {arm} accuracy of {model} on {task} is a number of items.",
                    kind="cell check",
                )


c004_degradation_cells = Cells(
    "The degradations follow from the accuracies beside them.",
    "004, 4.2 Results",
    Relation(
        each={"model": PAIR, "task": TASKS},
        cell=_task_cell("{model}", "degradation", "{task}"),
        follows=percent_lost(_task_cell("{model}", "baseline", "{task}"), _task_cell("{model}", "disrupted", "{task}")),
        because="{0} to {1}.",
        key="{model}-{task}",
        says="The degradation of {model} on {task} is the lost share of its baseline.",
    ),
)


c004_category_cells = Cells(
    "The averages by category are means of two tasks, and the ratio is that of the averages.",
    "004, 4.3 Average Degradation by Category",
    Relation(
        each={
            "model": PAIR,
            "category, one, two": (("parametric", "cities", "sports"), ("contextual", "imdb", "passkey")),
        },
        cell=_average_cell("{model}", "{category}_average"),
        follows=mean(_task_cell("{model}", "degradation", "{one}"), _task_cell("{model}", "degradation", "{two}")),
        because="Mean of {0} and {1}.",
        key="{model}-{category}",
        says="The {category} average of {model} is the mean of its two tasks.",
    ),
    Relation(
        cell=_average_cell("RoPE", "contextual_over_parametric"),
        follows=_average_cell("RoPE", "contextual_average") / _average_cell("RoPE", "parametric_average"),
        because="{0} over {1}.",
        key="RoPE-ratio",
        says="The ratio of RoPE is its contextual over its parametric average.",
    ),
)


c004_knowledge_repeats = Cells(
    "The key findings, the passkey section and the interpretation repeat the tables.",
    "004, 4.4 Key Findings, 4.5 The Passkey Result and 4.6 Interpretation",
    Repeats(
        STATED,
        {
            "s4_4_rope_contextual": _average_cell("RoPE", "contextual_average").by("c004_rope_contextual"),
            "s4_4_rope_parametric": _average_cell("RoPE", "parametric_average").by("c004_rope_parametric_only"),
            "s4_4_drope_contextual": _average_cell("DroPE", "contextual_average").by("c004_drope_contextual"),
            "s4_4_rope_contextual_again": _average_cell("RoPE", "contextual_average").by("c004_rope_contextual"),
            "s4_4_drope_parametric": _average_cell("DroPE", "parametric_average").by("c004_drope_parametric_improves"),
            "s4_4_rope_passkey_baseline": _task_cell("RoPE", "baseline"),
            "s4_4_rope_passkey_disrupted": _task_cell("RoPE", "disrupted"),
            "s4_4_drope_passkey_baseline": _task_cell("DroPE", "baseline"),
            "s4_4_drope_passkey_disrupted": _task_cell("DroPE", "disrupted"),
            "s4_4_drope_passkey_degradation": UNAFFECTED,
            "s4_5_rope_baseline": _task_cell("RoPE", "baseline"),
            "s4_5_rope_disrupted": _task_cell("RoPE", "disrupted"),
            "s4_5_drope_baseline": _task_cell("DroPE", "baseline"),
            "s4_5_drope_disrupted": _task_cell("DroPE", "disrupted"),
            "s4_6_rope_degradation": _task_cell("RoPE", "degradation"),
            "s4_6_drope_degradation": UNAFFECTED,
        },
    ),
)


c004_knowledge_captions = Cells(
    "The captions of Figures 8 and 9 repeat the tables.",
    "004, Figures 8 and 9",
    Repeats(
        Artifact("drope_captions"),
        {
            "fig_8_rope_degradation": _task_cell("RoPE", "degradation"),
            "fig_8_drope_degradation": UNAFFECTED,
            "fig_9_rope_ratio": _average_cell("RoPE", "contextual_over_parametric").by("c004_rope_ratio"),
        },
    ),
)


c004_figure_d = Cells(
    "The coordinates of Figure D, which draws losses as negative, are the degradations of the table.",
    "004, 15 Publication Figures, Figure D",
    Relation(
        each=FIGURE_D.rows("series", "x"),
        cell=FIGURE_D(series="{series}", x="{x}"),
        follows=-_task_cell("{series}", "degradation", "{x!l}"),
        because="The table prints a degradation of {0}, here {value:+.1f}.",
        places=1,
        key="{series}-{x!l}",
        says="Figure D draws the degradation of {series} on {x!l} as in the table.",
    ),
)
