"""Accuracy on four tasks by condition, one column per task, for the tables of two experiments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from boundpaper.tables.spec import Column
from tables._house import ends

if TYPE_CHECKING:
    import pandas as pd

TASKS: Mapping[str, str] = {"cities": "cities", "sports": "sports", "passkey": "passkey", "imdb": "IMDB"}
YES_NO = ("cities", "sports")
BASELINE = "baseline"
BELOW = (
    "The interval lies below chance, which guessing does not give: most answers are neither of the two options and "
    "count as wrong."
)
UNREAD = "It may be that no answer could be read, so that there is no share."
NONE_READ = "No answer could be read, so there is no share; the stored and printed zero means this."


def task_rows(shares: pd.DataFrame, tests: pd.DataFrame, conditions: Mapping[str, str]) -> pd.DataFrame:
    """Return one row per model and condition; for each task, a column named after it has the share of right answers.

    Further columns are the ends of its interval (`TASK_low`, `TASK_high`), the number of answers (`TASK_of`), the
    adjusted p (`TASK_p`), a footnote (`TASK_mark`), and the reason for an empty share (`TASK_why`).

    Parameters
    ----------
    shares : DataFrame
        Accuracy in percent per condition, model and task, with its interval or the number of answers.
    tests : DataFrame
        Tests of each condition against the baseline, where possible.
    conditions : mapping of str to str
        Printed name of each condition key, in order.
    """
    import pandas as pd

    adjusted = tests.set_index("comparison")["p_adjusted"]
    cells = {(row["positional"], row["condition"], row["task"]): row for row in shares.to_dict("records")}
    rows = []
    for model in dict.fromkeys(shares["positional"]):
        for condition, name in conditions.items():
            row: dict[str, Any] = {"positional": model, "name": name}
            for task in TASKS:
                cell = cells[model, condition, task]
                row |= {task: cell["share"], f"{task}_low": cell["low"], f"{task}_high": cell["high"]}
                fewest, most = int(cell["n_low"]), int(cell["n_high"])
                row[f"{task}_of"] = str(most) if fewest == most else f"{fewest}-{most}"
                row[f"{task}_why"] = NONE_READ if most == 0 else UNREAD
                row[f"{task}_mark"] = "below" if cell["against_chance"] == "below" else ""
                contrast = f"{model}, {task}, {condition} against {BASELINE}"
                row[f"{task}_p"] = adjusted.get(contrast)
            rows.append(row)
    return pd.DataFrame(rows)


def task_columns() -> list[Column]:
    """Return the columns for `task_rows`: the share of right answers in yes/no tasks, accuracy in others."""
    from boundpaper.typeset.numbers import integer, sentences

    columns = []
    for task, name in TASKS.items():
        if task in YES_NO:
            group = f"{name.capitalize()}, % of read"
            columns += [
                Column(task, "right", integer(), p=f"{task}_p", reason=f"{task}_why", group=group),
                Column(f"{task}_of", "of", sentences, group=group, align="right"),
            ]
            continue
        columns.append(
            Column(task, name, integer(), ci=ends(task), p=f"{task}_p", mark=f"{task}_mark", group="Accuracy, %")
        )
    return columns


def task_items(shares: pd.DataFrame) -> str:
    """Return a phrase with each task and its number of items."""
    counts = shares.drop_duplicates("task").set_index("task")["items"]
    return ", ".join(f"{name} {counts[task]}" for task, name in TASKS.items())


def task_note(shares: pd.DataFrame, tests: pd.DataFrame) -> tuple[str, str]:
    """Return the note: the denominators of the shares, the test and the chance levels."""
    items = shares.drop_duplicates("task").set_index("task")["items"]
    return (
        "Cities and sports: the report's scripts leave out answers that read as neither yes nor no. The columns headed "
        f"*of* give how many answers the unrounded share can rest on, among {items['cities']} and {items['sports']} "
        "items. Where that is not one number there is no interval and no test.",
        "Stars: Fisher's exact test against the baseline, which treats the same items as different ones, since "
        f"answers per item are not published; Holm over the {int(tests['p_value'].notna().sum())} tests. Chance is "
        f"{shares['chance'].max():.0f} % for two answers and {shares['chance'].min():.3f} % for the passkey.",
    )
