"""Accuracy on four tasks under several conditions, spread over columns: what two experiments' tables share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tables._spec import Column

if TYPE_CHECKING:
    import pandas as pd

TASKS: Mapping[str, str] = {"cities": "cities", "sports": "sports", "passkey": "passkey", "imdb": "IMDB"}
BASELINE = "baseline"
BELOW = (
    "The interval lies below chance, which guessing does not give: most answers are neither of the two options and "
    "count as wrong."
)


def task_rows(shares: pd.DataFrame, tests: pd.DataFrame, conditions: Mapping[str, str]) -> pd.DataFrame:
    """One row per model and condition, columns `TASK`, `TASK_low`, `TASK_high`, `TASK_p` and `TASK_mark`.

    Parameters
    ----------
    shares : DataFrame
        Accuracy in percent per condition, model and task, with its interval.
    tests : DataFrame
        Each condition against the baseline; `TASK_p` is the adjusted p.
    conditions : mapping of str to str
        Keys in order, and what the table calls them.
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
                row[f"{task}_mark"] = "below" if cell["against_chance"] == "below" else ""
                against = f"{model}, {task}, {condition} against {BASELINE}"
                row[f"{task}_p"] = None if condition == BASELINE else float(adjusted[against])
            rows.append(row)
    return pd.DataFrame(rows)


def task_columns() -> list[Column]:
    """The columns of `task_rows`: accuracy with its interval, stars for the test, marks below chance."""
    from artifacts.numbers import integer

    return [
        Column(
            task,
            name,
            integer(),
            ci=(f"{task}_low", f"{task}_high"),
            p=f"{task}_p",
            mark=f"{task}_mark",
            group="Accuracy, %",
        )
        for task, name in TASKS.items()
    ]


def task_items(shares: pd.DataFrame) -> str:
    """Name each task with its number of items."""
    counts = shares.drop_duplicates("task").set_index("task")["n"]
    return ", ".join(f"{name} {counts[task]}" for task, name in TASKS.items())


def task_note(shares: pd.DataFrame, tests: pd.DataFrame) -> str:
    """Word the test and the chance levels."""
    return (
        "Stars: Fisher's exact test against the baseline, which treats the same items as different ones, since "
        f"answers per item are not published; Holm over the {int(tests['p_value'].notna().sum())} tests. Chance is "
        f"{shares['chance'].max():.0f} % for two answers and {shares['chance'].min():.3f} % for the passkey. The "
        "printed percentages are whole, so counts are known to one item."
    )
