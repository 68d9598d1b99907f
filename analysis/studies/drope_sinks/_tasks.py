"""Compute the accuracy on the four tasks under each condition, with its denominator; if counts are known, test it."""

import re

import pandas as pd

from analysis.studies._arms import CATEGORIES, YES_NO, Arm, arms, rounds_to_share
from boundpaper.errors import DataError
from boundpaper.statistics import Estimate, fisher, wilson_interval
from boundpaper.statistics.families import corrected
from boundpaper.store.frames import pick

BASELINE = "baseline"
CHANCE_OF_TWO = 0.5  # of a right answer, if two answers are possible
UNPAIRED = "same items in both arms, answers per item not published, so unpaired"
ONLY_READ = "and only of answers that could be read"


def items_and_chance(drope_protocols: pd.DataFrame, section: str) -> tuple[dict[str, int], dict[str, float]]:
    """Return the number of items and chance accuracy of each task, from the protocol of a section.

    Raises DataError if the section is missing or its items are not of the form `task n, task n, ...`.
    """
    rows = drope_protocols[drope_protocols["section"] == section]
    if len(rows) != 1:
        raise DataError(f"drope_protocols has {len(rows)} rows of section {section!r}; exactly one is needed")
    items = {name: int(n) for name, n in re.findall(r"(?<![a-z])([a-z]++) (\d+)", str(rows["items"].iloc[0]))}
    if set(items) != set(CATEGORIES):
        raise DataError(f"section {section!r} lists items for {', '.join(items)}; needed are {', '.join(CATEGORIES)}")
    digits = int(rows["passkey_digits"].iloc[0])
    return items, {task: 10.0**-digits if task == "passkey" else CHANCE_OF_TWO for task in items}


def shares(
    printed: pd.DataFrame,
    drope_script_rates: pd.DataFrame,
    drope_protocols: pd.DataFrame,
    section: str,
    experiment: str,
) -> pd.DataFrame:
    """Return the stored share of right answers in percent by condition, model and task, with the number of answers.

    `share` is relative to the counted answers. For cities and sports these are the parsed answers, between `n_low`
    and `n_high`; `count` and `n` are known only if the share allows a single pair. `right_low` and `right_high` are
    right answers in percent of all `items`, with unparsed answers as wrong. `low` and `high` are Wilson's interval if
    `n` is known. `against_chance` is "above" or "below" if the interval excludes chance, "open" if not, and "unknown"
    without an interval. `lost` is the share of the baseline's accuracy above chance that is lost under the condition.
    """
    items, chance = items_and_chance(drope_protocols, section)
    by_key = arms(drope_script_rates, experiment, items)
    rows = []
    for _, cell in printed.iterrows():
        condition, model, task = str(cell["condition"]), str(cell["positional"]), str(cell["task"])
        arm = by_key[condition, model, task]
        if not rounds_to_share(arm, cell):
            raise DataError(f"{model}, {task}, {condition}: {cell['printed']} is printed, {arm.share} % is stored")
        base = by_key[BASELINE, model, task]
        answered, right, counts = arm.answered.answered, arm.answered.right, arm.answered.known
        low, high = wilson_interval(*counts) if counts else (None, None)
        task_chance = chance[task]
        rows.append(
            {
                "condition": condition,
                "positional": model,
                "task": task,
                "category": CATEGORIES[task],
                "printed_text": cell["printed"],
                "share": arm.share,
                "low": None if low is None else 100 * low,
                "high": None if high is None else 100 * high,
                "count": counts[0] if counts else None,
                "n": counts[1] if counts else None,
                "n_low": answered[0],
                "n_high": answered[1],
                "right_low": 100 * right[0] / items[task],
                "right_high": 100 * right[1] / items[task],
                "items": items[task],
                "chance": 100 * task_chance,
                "against_chance": _relation_to_chance(low, high, task_chance),
                "lost": _share_lost(base.share, arm.share, 100 * task_chance),
                "note": "; ".join(filter(None, (arm.why_empty, _why_not_lost(base, arm, 100 * task_chance)))),
            }
        )
    return pd.DataFrame(rows).astype({"count": "Int64", "n": "Int64"})


def against_baseline(table: pd.DataFrame, study: str, test_families: pd.DataFrame) -> list[Estimate]:
    """Return Fisher's exact tests of conditions against the baseline where both counts are known; Holm over all tests.

    Both arms have the same items, but answers per item are not published, so McNemar's test is impossible; Fisher's
    ignores the pairing and usually gives a larger p. There is no row if the denominator is unknown.
    """
    tests = [
        fisher(
            *(int(cell[name]) for cell in (row, base) for name in ("count", "n")),
            study=study,
            comparison=f"{row['positional']}, {row['task']}, {row['condition']} against {BASELINE}",
            unit="item",
            note=" ".join((UNPAIRED, ONLY_READ if row["task"] in YES_NO else "")).strip(),
        )
        for row, base in _conditions_with_counts(table)
    ]
    return corrected(tests, test_families, study)


def _conditions_with_counts(table: pd.DataFrame) -> list[tuple[pd.Series, pd.Series]]:
    """Return the rows of each condition and its baseline for which both numbers of answers are known."""
    pairs = [
        (row, pick(table, positional=row["positional"], task=row["task"], condition=BASELINE))
        for _, row in table[table["condition"] != BASELINE].iterrows()
    ]
    return [(row, base) for row, base in pairs if pd.notna(row["n"]) and pd.notna(base["n"])]


def _relation_to_chance(low: float | None, high: float | None, chance: float) -> str:
    if low is None or high is None:
        return "unknown"
    return "above" if low > chance else "below" if high < chance else "open"


def _share_lost(base: float | None, share: float | None, chance: float) -> float | None:
    if base is None or share is None or base <= chance:
        return None
    return 100 * (base - share) / (base - chance)


def _why_not_lost(base: Arm, arm: Arm, chance: float) -> str:
    if arm.share is None or base.share is None:
        return ""  # the note already says that there is no share
    return "" if base.share > chance else "the baseline is not above chance, so nothing above it to lose"
