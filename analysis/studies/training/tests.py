"""Test over checkpoints of one run whether the unit decides the bias's sign, and what predicts plasticity."""

from typing import Any

import numpy as np
import pandas as pd

from boundpaper.statistics import guards
from boundpaper.statistics.correlations import correlation, covariate
from boundpaper.statistics.correlations.contrast import levels_and_differences
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected

BIASES = {"bias_strength": "bias per token", "bias_window": "bias per window"}
PREDICTORS = {"middle": "position", "share": "share of the context", "gathered_bias": "gathered bias"}
OUTCOMES = ("ap_drop", "ap_overall")
STUDY = "training_tests"


def training_tests(
    training_trajectory: pd.DataFrame, training_positions: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Test plasticity against the bias in both units.

    Over all ten checkpoints: levels (four pairs of bias and outcome, two coefficients), first differences, and
    partial correlations given the context or its logarithm. Over the six checkpoints of the short context, both units
    are equal up to a factor. Over bins of position: plasticity against the position, its share of the context, and
    the accumulated bias. Checkpoints of one run, and bins of one checkpoint, are dependent, so each row has a guard
    that says so, and no p is corrected.
    """
    run = training_trajectory.sort_values("order")
    short = run[run["context"] == run["context"].min()]
    tests: list[Estimate] = []
    for method in (correlation.pearson, correlation.spearman):
        tests += [
            guards.attach(
                method(
                    run[bias],
                    run[outcome],
                    study=STUDY,
                    comparison=f"{outcome} against {label}, all checkpoints",
                    unit="checkpoint",
                    names=(bias, outcome),
                ),
                _run(run),
            )
            for bias, label in BIASES.items()
            for outcome in OUTCOMES
        ]
    for bias, label in BIASES.items():
        for outcome in OUTCOMES:
            about: dict[str, Any] = {
                "study": STUDY,
                "comparison": f"{outcome} against {label}, all checkpoints",
                "unit": "checkpoint",
            }
            tests.append(guards.attach(levels_and_differences(run[bias], run[outcome], **about)[1], _run(run)))
            context = run["context"].to_numpy(dtype=float)
            for size, name, place in ((np.log2(context), "log2 context", ""), (context, "context", ", plain context")):
                names = {**about, "comparison": f"{about['comparison']}{place}"}
                partial = covariate.partial(run[bias], run[outcome], size, covariate_name=name, **names)
                tests.append(guards.attach(partial, _run(run)))
    for outcome in OUTCOMES:
        about = {
            "study": STUDY,
            "comparison": f"{outcome} against bias, checkpoints of the short context",
            "unit": "checkpoint",
        }
        for method in (correlation.pearson, correlation.spearman):
            tests.append(guards.attach(method(short["bias_strength"], short[outcome], **about), _run(short)))
        tests.append(
            guards.attach(levels_and_differences(short["bias_strength"], short[outcome], **about)[1], _run(short))
        )
    bins = training_positions[training_positions["plasticity"].notna()]
    for group, rows in (("all checkpoints", bins), ("extension checkpoints", bins[bins["extension"].astype(bool)])):
        for column, label in PREDICTORS.items():
            test = correlation.spearman(
                rows[column],
                rows["plasticity"],
                study=STUDY,
                comparison=f"plasticity against {label}, bins of {group}",
                unit="bin",
                names=(column, "plasticity"),
                note="chosen after seeing the data",
            )
            guard = guards.dependent_units(list(rows["bin"]), list(rows["checkpoint"]), "a checkpoint")
            tests.append(guards.attach(test, guard))
    return frame(corrected(tests, test_families, STUDY))


def _run(checkpoints: pd.DataFrame) -> guards.Notes:
    names = list(checkpoints["checkpoint"])
    return guards.dependent_units(names, ["one training run"] * len(names), "one training run")
