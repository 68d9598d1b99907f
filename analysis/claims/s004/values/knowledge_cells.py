"""Document 004, Experiment 3: derived cells, repeated values, and the coordinates of Figure D."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from analysis.claims import Verdict, compare, pick, quote
from analysis.claims._verdicts.cells import Cell, restated
from analysis.statistics.rounding import mean, relative_decline
from analysis.statistics.rounding import ratio as quotient

MODELS = ("RoPE", "DroPE")
TASKS = {"cities": "parametric", "sports": "parametric", "imdb": "contextual", "passkey": "contextual"}


def c004_knowledge_settings(drope_stated: pd.DataFrame, knowledge_protocols: pd.DataFrame) -> list[Verdict]:
    """The tasks have the stated numbers of items and digits in the repository's script.

    Source: 004, 4.1 Background.
    """
    verdicts = []
    for task in TASKS:
        script = pick(knowledge_protocols, positional="RoPE", task=task)
        verdicts.append(_setting(drope_stated, f"s4_1_{task}_items", float(script["n_3"]), f"items of {task}"))
    digits = float(pick(knowledge_protocols, positional="RoPE", task="passkey")["digits_3"])
    verdicts.append(_setting(drope_stated, "s4_1_passkey_digits", digits, "digits of the passkey"))
    verdicts.append(_setting(drope_stated, "paradox_passkey_digits", digits, "digits of the passkey, in the opening"))
    return verdicts


def _setting(stated: pd.DataFrame, key: str, value: float, what: str) -> Verdict:
    return compare(
        quote(stated, statement=key),
        value,
        reason=f"The script has {value:.0f}.",
        places=0,
        key=key,
        statement=f"Number of {what}.",
        kind="cell check",
    )


def c004_rates_are_counts(drope_knowledge: pd.DataFrame, drope_stated: pd.DataFrame) -> list[Verdict]:
    """Every accuracy is a whole number of the stated items.

    Source: 004, 4.2 Results.
    """
    verdicts = []
    for model in MODELS:
        for task in TASKS:
            n = int(quote(drope_stated, statement=f"s4_1_{task}_items").number)
            for arm in ("baseline", "disrupted"):
                rate = quote(drope_knowledge, positional=model, task=task, metric=arm)
                count = round(rate.number * n / 100)
                verdicts.append(
                    compare(
                        rate,
                        100 * count / n,
                        reason=f"{count} of {n}.",
                        key=f"{model}-{task}-{arm}",
                        statement=f"The {arm} accuracy of {model} on {task} is a number of items.",
                        kind="cell check",
                    )
                )
    return verdicts


def c004_degradation_cells(drope_knowledge: pd.DataFrame) -> list[Verdict]:
    """The degradations follow from the accuracies beside them.

    Source: 004, 4.2 Results.
    """
    verdicts = []
    for model in MODELS:
        for task in TASKS:
            base, disrupted = (
                quote(drope_knowledge, positional=model, task=task, metric=arm) for arm in ("baseline", "disrupted")
            )
            verdicts.append(
                compare(
                    quote(drope_knowledge, positional=model, task=task, metric="degradation"),
                    100 * (1 - disrupted.number / base.number),
                    relative_decline(base.interval, disrupted.interval) * 100,
                    reason=f"{base.printed} to {disrupted.printed}.",
                    key=f"{model}-{task}",
                    statement=f"The degradation of {model} on {task} is the lost share of its baseline.",
                    kind="cell check",
                )
            )
    return verdicts


def c004_category_cells(drope_knowledge_categories: pd.DataFrame, drope_knowledge: pd.DataFrame) -> list[Verdict]:
    """The averages by category are means of two tasks, and the ratio is that of the averages.

    Source: 004, 4.3 Average Degradation by Category.
    """
    verdicts = []
    for model in MODELS:
        for category in ("parametric", "contextual"):
            cells = [
                quote(drope_knowledge, positional=model, task=task, metric="degradation")
                for task, kind in TASKS.items()
                if kind == category
            ]
            verdicts.append(
                compare(
                    quote(drope_knowledge_categories, positional=model, metric=f"{category}_average"),
                    sum(cell.number for cell in cells) / len(cells),
                    mean(cell.interval for cell in cells),
                    reason=f"Mean of {' and '.join(cell.printed for cell in cells)}.",
                    key=f"{model}-{category}",
                    statement=f"The {category} average of {model} is the mean of its two tasks.",
                    kind="cell check",
                )
            )
    param, context = (
        quote(drope_knowledge_categories, positional="RoPE", metric=f"{category}_average")
        for category in ("parametric", "contextual")
    )
    verdicts.append(
        compare(
            quote(drope_knowledge_categories, positional="RoPE", metric="contextual_over_parametric"),
            context.number / param.number,
            quotient(context.interval, param.interval),
            reason=f"{context.printed} over {param.printed}.",
            key="RoPE-ratio",
            statement="The ratio of RoPE is its contextual over its parametric average.",
            kind="cell check",
        )
    )
    return verdicts


def c004_knowledge_repeats(
    drope_stated: pd.DataFrame, drope_knowledge: pd.DataFrame, drope_knowledge_categories: pd.DataFrame
) -> list[Verdict]:
    """The key findings, the passkey section and the interpretation repeat the tables.

    Source: 004, 4.4 Key Findings, 4.5 The Passkey Result and 4.6 Interpretation.
    """
    average, passkey = _places(drope_knowledge, drope_knowledge_categories)
    return restated(
        drope_stated,
        {
            "s4_4_rope_contextual": average("RoPE", "contextual_average").by("c004_rope_contextual"),
            "s4_4_rope_parametric": average("RoPE", "parametric_average").by("c004_rope_parametric_only"),
            "s4_4_drope_contextual": average("DroPE", "contextual_average").by("c004_drope_contextual"),
            "s4_4_rope_contextual_again": average("RoPE", "contextual_average").by("c004_rope_contextual"),
            "s4_4_drope_parametric": average("DroPE", "parametric_average").by("c004_drope_parametric_improves"),
            "s4_4_rope_passkey_baseline": passkey("RoPE", "baseline"),
            "s4_4_rope_passkey_disrupted": passkey("RoPE", "disrupted"),
            "s4_4_drope_passkey_baseline": passkey("DroPE", "baseline"),
            "s4_4_drope_passkey_disrupted": passkey("DroPE", "disrupted"),
            "s4_4_drope_passkey_degradation": passkey("DroPE", "degradation").by("c004_drope_passkey_unaffected"),
            "s4_5_rope_baseline": passkey("RoPE", "baseline"),
            "s4_5_rope_disrupted": passkey("RoPE", "disrupted"),
            "s4_5_drope_baseline": passkey("DroPE", "baseline"),
            "s4_5_drope_disrupted": passkey("DroPE", "disrupted"),
            "s4_6_rope_degradation": passkey("RoPE", "degradation"),
            "s4_6_drope_degradation": passkey("DroPE", "degradation").by("c004_drope_passkey_unaffected"),
        },
    )


def c004_knowledge_captions(
    drope_captions: pd.DataFrame, drope_knowledge: pd.DataFrame, drope_knowledge_categories: pd.DataFrame
) -> list[Verdict]:
    """The captions of Figures 8 and 9 repeat the tables.

    Source: 004, Figures 8 and 9.
    """
    average, passkey = _places(drope_knowledge, drope_knowledge_categories)
    return restated(
        drope_captions,
        {
            "fig_8_rope_degradation": passkey("RoPE", "degradation"),
            "fig_8_drope_degradation": passkey("DroPE", "degradation").by("c004_drope_passkey_unaffected"),
            "fig_9_rope_ratio": average("RoPE", "contextual_over_parametric").by("c004_rope_ratio"),
        },
    )


def _places(knowledge: pd.DataFrame, categories: pd.DataFrame) -> tuple[Callable[[str, str], Cell], ...]:
    def average(model: str, metric: str) -> Cell:
        return Cell(categories, "the table of averages", {"positional": model, "metric": metric})

    def passkey(model: str, metric: str) -> Cell:
        return Cell(knowledge, "the table of tasks", {"positional": model, "task": "passkey", "metric": metric})

    return average, passkey


def c004_figure_d(drope_figures: pd.DataFrame, drope_knowledge: pd.DataFrame) -> list[Verdict]:
    """The coordinates of Figure D, which draws losses as negative, are the degradations of the table.

    Source: 004, 15 Publication Figures, Figure D.
    """
    verdicts = []
    drawn = drope_figures[drope_figures["figure"] == "D"]
    for _, row in drawn.iterrows():
        model, task = str(row["series"]), str(row["x"]).lower()
        cell = quote(drope_knowledge, positional=model, task=task, metric="degradation")
        verdicts.append(
            compare(
                quote(drawn, series=model, x=row["x"]),
                -cell.number,
                -cell.interval,
                reason=f"The table prints a degradation of {cell.printed}, here {0 - cell.number:+.1f}.",
                places=1,
                key=f"{model}-{task}",
                statement=f"Figure D draws the degradation of {model} on {task} as in the table.",
                kind="cell check",
            )
        )
    return verdicts
