"""Knowledge tasks before and under disruption: accuracy with intervals, degradation as printed and above chance."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, printed, pvalue, sentences
from tables._house import ends

TASKS = {"cities": "cities", "sports": "sports", "imdb": "IMDB", "passkey": "passkey"}
NO_EXCESS = "The baseline's interval reaches chance or lies below it: nothing above chance can be lost."
UNKNOWN = "The number of answers behind the shares is not stored."


def table(knowledge_tasks: pd.DataFrame, drope_knowledge: pd.DataFrame) -> Table:
    """Return one row per model and task."""
    printed_cells = drope_knowledge[drope_knowledge["metric"] == "degradation"][["positional", "task", "printed"]]
    rows = knowledge_tasks.merge(printed_cells, on=["positional", "task"])
    rows = rows.assign(
        name=rows["task"].map(TASKS),
        answers=_possible_counts(rows),
        above_why=[UNKNOWN if pd.notna(value) else NO_EXCESS for value in rows["above_chance"]],
        base_mark=["below" if is_low else "" for is_low in rows["base_high"] < rows["chance"]],
        disrupted_mark=["below" if is_low else "" for is_low in rows["disrupted_high"] < rows["chance"]],
    )
    items = ", ".join(f"{TASKS[str(task)]} {n}" for task, n in rows.drop_duplicates("task")[["task", "n"]].to_numpy())
    return Table(
        rows=rows,
        columns=[
            Column("name", "Task"),
            Column("answers", "Answers", sentences, align="right", blank=True),
            Column(
                "base", "baseline", fixed(1), ci=ends("base"), group="Accuracy, %", mark="base_mark", missing=UNKNOWN
            ),
            Column(
                "disrupted",
                "disrupted",
                fixed(1),
                ci=ends("disrupted"),
                group="Accuracy, %",
                mark="disrupted_mark",
                missing=UNKNOWN,
            ),
            Column("printed", "printed", printed(), group="Degradation"),
            Column(
                "above_chance", "excess, %", integer(), ci=ends("above_chance"), group="Degradation", reason="above_why"
            ),
            Column("p_holm", "Fisher", pvalue(), group="$p$", missing=UNKNOWN),
            Column("p_mcnemar_high", "McNemar", pvalue(), group="$p$", missing=UNKNOWN),
        ],
        groups="positional",
        size="scriptsize",
        column_space=4,
        marks={
            "below": (
                "The interval lies below chance, which guessing does not give; answers that are neither option, "
                "counted as wrong, would."
            )
        },
        caption=(
            "Knowledge tasks before and after one massive dimension per head is replaced by its mean: accuracy with 95 "
            f"% Wilson intervals and degradation, Section 4.2 of the report [@africa2026]. Unit: item; asked: {items}."
        ),
        short="Knowledge tasks before and under disruption",
        note=(
            "The accuracy of cities and sports counts only answers that read as yes or no: *answers* says how many "
            "there can be in either arm, given the unrounded share; where it is empty, all items count. Unless both "
            "arms leave one number, there is no test. Degradation: lost share of the baseline accuracy as printed; "
            f"*excess*: of the accuracy above chance. Chance is {rows['chance'].max():.0f} %, supposing that both "
            f"answers are equally frequent, and {rows['chance'].min():.3f} % for the passkey. Fisher's exact test "
            f"treats the arms as different items; its p is Holm's over the {int(rows['p_holm'].notna().sum())} tests. "
            "McNemar: the largest exact p over all pairings of right answers that the two rates allow, since answers "
            "per item are not published."
        ),
    )


def _possible_counts(rows: pd.DataFrame) -> list[str]:
    """Return the possible denominators of both shares, each a number or a range; empty if both are numbers."""
    counts = rows[["base_n_low", "base_n_high", "disrupted_n_low", "disrupted_n_high"]].to_numpy().tolist()
    texts = [[str(high) if low == high else f"{low}-{high}" for low, high in (row[:2], row[2:])] for row in counts]
    return [", ".join(pair) if "-" in "".join(pair) else "" for pair in texts]
