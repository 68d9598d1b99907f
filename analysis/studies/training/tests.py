"""Test over one run's checkpoints what predicts plasticity, and whether the bias's unit reverses the correlation."""

from itertools import product
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
    """Return tests of plasticity against the bias per token and per window.

    Over all ten checkpoints, the tests correlate levels (four pairs of bias and outcome, two coefficients) and first
    differences, and levels given the context or its logarithm. Over the six checkpoints of the short context, both
    units are equal up to a factor. Over bins of position, plasticity is tested against the position, its share of the
    context, and the accumulated bias. Checkpoints of one run, and bins of one checkpoint, are dependent, so each row
    has a guard that says so, and no p is corrected.
    """
    run = training_trajectory.sort_values("order")
    short_run = run[run["context"] == run["context"].min()]
    pairs = list(product(BIASES, OUTCOMES))
    labels: dict[str, Any] = {"study": STUDY, "unit": "checkpoint"}
    over_run: list[Estimate] = []
    for method, (bias, outcome) in product((correlation.pearson, correlation.spearman), pairs):
        name = f"{outcome} against {BIASES[bias]}, all checkpoints"
        over_run.append(method(run[bias], run[outcome], comparison=name, names=(bias, outcome), **labels))
    contexts = run["context"].to_numpy(dtype=float)
    covariates = (("log2 context", np.log2(contexts), ""), ("context", contexts, ", plain context"))
    for bias, outcome in pairs:
        name = f"{outcome} against {BIASES[bias]}, all checkpoints"
        over_run.append(levels_and_differences(run[bias], run[outcome], comparison=name, **labels)[1])
        for covariate_name, values, suffix in covariates:
            options = {"covariate_name": covariate_name, "comparison": f"{name}{suffix}", **labels}
            over_run.append(covariate.partial(run[bias], run[outcome], values, **options))
    over_short: list[Estimate] = []
    for outcome in OUTCOMES:
        columns = (short_run["bias_strength"], short_run[outcome])
        name = f"{outcome} against bias, checkpoints of the short context"
        for method in (correlation.pearson, correlation.spearman):
            over_short.append(method(*columns, comparison=name, **labels))
        over_short.append(levels_and_differences(*columns, comparison=name, **labels)[1])
    tests = [guards.attach(test, _one_run(run)) for test in over_run]
    tests += [guards.attach(test, _one_run(short_run)) for test in over_short]
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


def _one_run(checkpoints: pd.DataFrame) -> guards.Notes:
    names = list(checkpoints["checkpoint"])
    return guards.dependent_units(names, ["one training run"] * len(names), "one training run")
