"""Accuracy of the four tasks under a condition: shares with intervals, tests against the baseline, what is lost."""

from __future__ import annotations

import re

import pandas as pd

from analysis.statistics import Estimate, degradation, fisher, guards, wilson_interval, with_note
from analysis.studies._families import corrected
from analysis.studies._perplexity import one
from artifacts.errors import DataError

CATEGORY = {"cities": "parametric", "sports": "parametric", "imdb": "contextual", "passkey": "contextual"}
BASELINE = "baseline"
# two possible answers; the passkey's chance follows from its digits
TWO_ANSWERS = 0.5
UNPARSED = "below chance, which wrong answers alone do not reach: answers without yes or no count as wrong"


def protocol(drope_protocols: pd.DataFrame, section: str) -> tuple[dict[str, int], dict[str, float]]:
    """Items and chance accuracy of each task, from the protocol of a section.

    Raises
    ------
    DataError
        When the section is not there or its items do not read `task n, task n, ...`.
    """
    rows = drope_protocols[drope_protocols["section"] == section]
    if len(rows) != 1:
        raise DataError(f"drope_protocols has {len(rows)} rows of section {section!r}; exactly one is needed")
    items = {name: int(n) for name, n in re.findall(r"([a-z]+) (\d+)", str(rows["items"].iloc[0]))}
    if set(items) != set(CATEGORY):
        raise DataError(f"section {section!r} lists items for {', '.join(items)}; needed are {', '.join(CATEGORY)}")
    digits = int(rows["passkey_digits"].iloc[0])
    return items, {task: 10.0**-digits if task == "passkey" else TWO_ANSWERS for task in items}


def shares(printed: pd.DataFrame, drope_protocols: pd.DataFrame, section: str) -> pd.DataFrame:
    """Share of right answers per condition, model and task in percent, with Wilson intervals.

    `count` is the whole number of items next to the printed percentage, `count_low` and `count_high` the fewest and the
    most that round to it. `against_chance` is "above" or "below" where the interval leaves chance out, else "open".
    """
    items, chance = protocol(drope_protocols, section)
    rows = []
    for _, cell in printed.iterrows():
        task = str(cell["task"])
        n = items[task]
        fitting = [count for count in range(n + 1) if cell["low"] <= 100 * count / n <= cell["high"]]
        if not fitting:
            raise DataError(f"no number of {n} items gives {cell['printed']} in {task}, {cell['condition']}")
        count = min(fitting, key=lambda right: abs(100 * right / n - float(cell["value"])))
        low, high = wilson_interval(count, n)
        rows.append(
            {
                "condition": cell["condition"],
                "positional": cell["positional"],
                "task": task,
                "category": CATEGORY[task],
                "printed_text": cell["printed"],
                "share": 100 * count / n,
                "low": 100 * low,
                "high": 100 * high,
                "count": count,
                "n": n,
                "count_low": fitting[0],
                "count_high": fitting[-1],
                "chance": 100 * chance[task],
                "against_chance": "above" if low > chance[task] else "below" if high < chance[task] else "open",
            }
        )
    return pd.DataFrame(rows)


def against_baseline(table: pd.DataFrame, study: str, test_families: pd.DataFrame) -> list[Estimate]:
    """Fisher's exact test of every condition against the baseline, Holm over all of them.

    The items are the same in both arms, but their answers one by one are not published, so McNemar's test cannot be
    done; Fisher's ignores the pairing and usually gives the larger p.
    """
    tests = []
    for _, row in table[table["condition"] != BASELINE].iterrows():
        base = _baseline(table, row)
        tests.append(
            fisher(
                int(row["count"]),
                int(row["n"]),
                int(base["count"]),
                int(base["n"]),
                study=study,
                comparison=f"{row['positional']}, {row['task']}, {row['condition']} against {BASELINE}",
                unit="item",
                note="same items in both arms, answers per item not published, so unpaired",
            )
        )
    return [with_note(test, *_rounded(table, test)) for test in corrected(tests, test_families, study)]


def losses(table: pd.DataFrame, study: str) -> list[Estimate]:
    """Share of the accuracy above chance that every condition removes; empty where the baseline reaches chance.

    Accuracy surely below chance is no loss of knowledge: answers without a yes or no count as wrong. Such rows say so.
    """
    found = []
    for _, row in table[table["condition"] != BASELINE].iterrows():
        base = _baseline(table, row)
        found.append(
            degradation(
                int(base["count"]),
                int(base["n"]),
                int(row["count"]),
                int(row["n"]),
                float(row["chance"]) / 100,
                study=study,
                comparison=f"{row['positional']}, {row['task']}, {row['condition']}",
                unit="item",
                note=UNPARSED if row["against_chance"] == "below" else "",
            )
        )
    return found


def _baseline(table: pd.DataFrame, row: pd.Series) -> pd.Series:
    return one(table, positional=row["positional"], task=row["task"], condition=BASELINE)


def _rounded(table: pd.DataFrame, test: Estimate) -> guards.Notes:
    """Say so where a percentage fits several counts."""
    model, task, *_ = test.comparison.split(", ")
    rows = table[(table["positional"] == model) & (table["task"] == task)]
    open_counts = rows[rows["count_low"] < rows["count_high"]]
    return ("whole percentages leave counts open by one item",) if len(open_counts) else ()
