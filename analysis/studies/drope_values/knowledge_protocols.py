"""Compare the knowledge tasks in Experiments 3 and 4: settings, rates, and a test between the baselines."""

import math
import re
from typing import Any

import pandas as pd

from analysis.studies._arms import Arm, arms
from analysis.studies.drope_values._knowledge import (
    LEFT_OUT,
    TASKS,
    estimate_range,
    percent_right,
    rate_columns,
    stored_arms,
    values_by_key,
)
from analysis.vocabulary import PAIR
from boundpaper.errors import DataError
from boundpaper.statistics import Estimate, attach, fisher
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import mixed_protocol

SECTIONS = {"3": "4", "4": "5 (tasks)"}  # of drope_protocols, by experiment


def knowledge_protocols(
    drope_knowledge: pd.DataFrame,
    drope_functional: pd.DataFrame,
    drope_script_rates: pd.DataFrame,
    drope_protocols: pd.DataFrame,
    test_families: pd.DataFrame,
) -> pd.DataFrame:
    """Return for the tasks in Experiments 3 and 4: settings, rates without and with Q/K disruption, and the difference.

    Rates are in percent, changes in points. `p_base` is Fisher's p of the two baselines, whose model, task and number
    of items are equal; `p_base_holm` is this p, Holm-corrected over all rows that have one. Rates have Wilson's
    interval, changes Newcombe's, if the numbers of answers are known.
    """
    functional = values_by_key(drope_functional, ("positional", "task", "condition"))
    settings = {experiment: _protocol_settings(drope_protocols, section) for experiment, section in SECTIONS.items()}
    guard = mixed_protocol(
        {f"Experiment {experiment}": {"precision": setting["precision"]} for experiment, setting in settings.items()}
    )
    items = {experiment: {task: int(setting[task]) for task in TASKS} for experiment, setting in settings.items()}
    by_experiment = {
        "3": stored_arms(drope_knowledge, drope_script_rates, items["3"]),
        "4": arms(drope_script_rates, "4", items["4"]),
    }
    rows: list[dict[str, Any]] = []
    tests: list[Estimate] = []
    reasons: list[str] = []
    tested: list[bool] = []
    for model in PAIR:
        for task in TASKS:
            row: dict[str, Any] = {"positional": model, "task": task}
            bases: dict[str, Arm] = {}
            all_counts_known = True
            for experiment, condition in (("3", "disrupted"), ("4", "qk_disruption")):
                setting = settings[experiment]
                base, disrupted = (by_experiment[experiment][name, model, task] for name in ("baseline", condition))
                if experiment == "4" and not math.isclose(
                    functional[(model, task, condition)], percent_right(disrupted), abs_tol=0.5
                ):
                    raise DataError(
                        f"{model} {task}: {functional[model, task, condition]} % is printed, not the stored rate"
                    )
                bases[experiment] = base
                change = _fisher_if_counts_known(disrupted, base, f"{model} {task}")
                all_counts_known &= change is not None
                row |= {
                    f"n_{experiment}": base.answered.items,
                    f"precision_{experiment}": setting["precision"],
                    f"digits_{experiment}": setting["digits"],
                    **{f"{name}_{experiment}": value for name, value in rate_columns("base", base).items()},
                    **{f"{name}_{experiment}": value for name, value in rate_columns("disrupted", disrupted).items()},
                    f"change_{experiment}": percent_right(disrupted) - percent_right(base),
                    f"change_low_{experiment}": None if change is None else 100 * estimate_range(change)[1],
                    f"change_high_{experiment}": None if change is None else 100 * estimate_range(change)[2],
                    f"p_change_{experiment}": None if change is None else change.p_value,
                }
            outcome = _fisher_if_counts_known(bases["4"], bases["3"], f"{model} {task}")
            rows.append(row)
            is_complete = all_counts_known and outcome is not None
            reasons.append("" if is_complete else f"no counts, intervals and p where {LEFT_OUT}")
            tested.append(outcome is not None)
            if outcome is not None:
                tests.append(attach(outcome, guard))
    outcomes = iter(corrected(tests, test_families, "knowledge_protocols"))
    row_tests = [next(outcomes) if is_tested else None for is_tested in tested]
    return (
        pd.DataFrame(rows)
        .assign(
            p_base=pd.Series([None if test is None else test.p_value for test in row_tests], dtype=float),
            p_base_holm=pd.Series([None if test is None else test.p_adjusted for test in row_tests], dtype=float),
            note=[
                "; ".join(filter(None, (reason, "" if test is None else test.note)))
                for reason, test in zip(reasons, row_tests, strict=True)
            ],
        )
        .astype({f"{arm}_right_{number}": "Int64" for arm in ("base", "disrupted") for number in SECTIONS})
    )


def _protocol_settings(protocols: pd.DataFrame, section: str) -> dict[str, Any]:
    """Return the items per task, digits of the passkey, and precision of a section."""
    row = protocols[protocols["section"] == section].iloc[0]
    items: dict[str, Any] = {name: int(count) for name, count in re.findall(r"\b(\w++) (\d+)", str(row["items"]))}
    return items | {"precision": row["precision"], "digits": int(row["passkey_digits"])}


def _fisher_if_counts_known(first: Arm, second: Arm, comparison: str) -> Estimate | None:
    """Return Fisher's test of two arms of `knowledge_protocols` if their numbers of answers are known."""
    first_counts, second_counts = first.answered.known, second.answered.known
    if first_counts is None or second_counts is None:
        return None
    return fisher(*first_counts, *second_counts, study="knowledge_protocols", comparison=comparison, unit="item")
