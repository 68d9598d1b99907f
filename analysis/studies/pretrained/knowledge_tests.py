"""Test how setting dimensions to their mean changes a pretrained model's answers, item by item."""

import pandas as pd

from analysis.studies.pretrained._named import display_names
from analysis.studies.pretrained.answers import RERUN, TASKS
from boundpaper.errors import DataError
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected
from boundpaper.statistics.proportion import mcnemar

CONTRASTS = {
    "largest against random": ("top1", "random-0"),
    "largest against none": ("top1", "baseline"),
    "random against none": ("random-0", "baseline"),
}


def pretrained_knowledge_tests(
    knowledge: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Return McNemar's exact test of two conditions on the same items, one row per model, task and contrast.

    `study` is the model, `comparison` has the form `TASK, CONTRAST`; `estimate` is the share of right answers under
    the first condition minus that under the second; unparsed answers are not right. Holm is over the tasks of one
    contrast of one model; random dimensions against none is a control and is not corrected. Raises DataError if no
    pretrained model has rows, or the items of two conditions differ.
    """
    tests: list[Estimate] = []
    for model in display_names(pretrained_models, subjects):
        answers = knowledge[(knowledge["model"] == model) & (knowledge["unit_id"] != "")]
        for task in TASKS:
            items = answers[answers["metric"] == f"{task}_right"]
            by_condition = {
                str(condition): cells.set_index("unit_id")["value"] for condition, cells in items.groupby("condition")
            }
            for contrast, (first, second) in CONTRASTS.items():
                if not {first, second} <= set(by_condition):
                    continue
                if set(by_condition[first].index) != set(by_condition[second].index):
                    raise DataError(
                        f"knowledge/{model}: {task} has different items in {first} than in {second}; run: {RERUN}"
                    )
                x, y = by_condition[first].sort_index(), by_condition[second].sort_index()
                tests.append(mcnemar(x, y, study=model, comparison=f"{task}, {contrast}", unit="item"))
    if not tests:
        raise DataError(f"knowledge has no pretrained model; run: {RERUN}")
    return frame(corrected(tests, test_families, "pretrained_knowledge_tests", lambda row: row.study))
