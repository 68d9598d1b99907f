"""Compare a rotary model, the same model without rotation, and its second pair of students when keys swap positions."""

import pandas as pd

from analysis.studies.pretrained._pairs import AGAIN, by_quarter, students_of_pairs
from analysis.studies.pretrained.distillation import HELD_OUT
from analysis.studies.pretrained.exchange import QUANTITIES
from analysis.studies.pretrained.one_position import KEY_HEAD
from boundpaper.errors import DataError
from boundpaper.statistics.locations.student import student_interval

MODELS = ("teacher", "untouched", "nope", "continued")
ARMS = MODELS[2:]
RERUN = "python build.py lab widths --exchange"
TRAIN = "python build.py lab distil --recipe short-fp32"


def distilled_exchange(pretrained_exchange: pd.DataFrame, subjects: pd.DataFrame) -> pd.DataFrame:
    """Return each quantity over all pairs of keys, by quarter of the context (`from_token`), as a mean over heads.

    `difference` is the student without rotation minus its control, averaged over key heads (the units), with
    Student's interval.

    Raises DataError if one of the four models of a pair is not measured.
    """
    width = pretrained_exchange["apart_high"] - pretrained_exchange["apart_low"]
    widest = pretrained_exchange[width == width.max()]
    rows = []
    for pair, models in students_of_pairs(subjects, AGAIN).items():
        cells_by_model = {name: widest[widest["model"] == models.get(name)] for name in MODELS}
        if missing_models := [name for name, cells in cells_by_model.items() if cells.empty]:
            raise DataError(f"pretrained_exchange has no rows of {pair}, {', '.join(missing_models)}; run: {RERUN}")
        for quantity in QUANTITIES:
            quarters = {name: by_quarter(cells, quantity) for name, cells in cells_by_model.items()}
            units = (quarters["nope"] - quarters["continued"]).groupby(level=KEY_HEAD).mean()
            for low in quarters["teacher"].columns:
                means = {name: float(quarter[low].mean()) for name, quarter in quarters.items()}
                ends = student_interval(units[low].to_numpy(dtype=float))
                row = {"pair": pair, "quantity": quantity, "from_token": low, **means}
                row |= {"difference": float(units[low].mean()), "low": ends and ends[0], "high": ends and ends[1]}
                reason = "" if ends else "low, high: one key head, or several that agree exactly"
                rows.append(row | {"key_heads": len(units), "note": reason})
    return pd.DataFrame(rows)


def distillation_again(distillation: pd.DataFrame, subjects: pd.DataFrame) -> pd.DataFrame:
    """Return the students' divergence from the teacher at the end of the first training and of the second.

    Raises DataError if one of them is not measured, or they end at different steps.
    """
    last_steps = distillation[(distillation["metric"] == HELD_OUT[0]) & (distillation["step"] == distillation["of"])]
    repeats, rows = students_of_pairs(subjects, AGAIN), []
    for pair, models in students_of_pairs(subjects).items():
        for arm in ARMS:
            names = {"first": models[arm], "again": repeats.get(pair, {}).get(arm, "")}
            curves = {name: last_steps[last_steps["model"] == model].set_index("text") for name, model in names.items()}
            first, second = curves["first"], curves["again"]
            if first.empty or second.empty or set(first["step"]) != set(second["step"]):
                raise DataError(f"distillation of {pair}, {arm}: both trainings must end at equal steps; run: {TRAIN}")
            for text in first.index:
                divergences = {name: float(curve.loc[text, "value"]) for name, curve in curves.items()}
                row = {"pair": pair, "arm": arm, "text": text, "step": int(first.loc[text, "step"]), **divergences}
                rows.append(row | {"difference": divergences["again"] - divergences["first"]})
    return pd.DataFrame(rows)
