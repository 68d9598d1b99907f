"""Compute Delta P over the layers of measured models: curves, landmarks, and tests."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import stats

from analysis.population.recipe import SUBJECTS
from analysis.subjects import subjects
from boundpaper.statistics import Estimate, frame, welch_t_from_stats
from boundpaper.statistics.effects import d_z_interval
from boundpaper.statistics.estimate import join_notes, no
from boundpaper.statistics.families import corrected
from boundpaper.statistics.guards import few_units

CURVES = ("delta_p", "control", "excess")
ENDS = ("low", "high")
CHANCE = 0.5
KEYS = ["model", "positional", "data", "split", "group", "layer"]
TESTED_SPLITS = ("layer", "half", "design")


def anchoring_curves(anchoring: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return mean Delta P by model, data set, grouping, group and layer, with a 95 % bootstrap interval.

    A model in the table of models has its key and name from there. `entity` is a small model's arm, else the model;
    `depth` is the layer's relative depth in percent. `control` is Delta P with as many other tokens cut in place of the
    question, `filler` with as many filler tokens cut (if there are any), and `excess` the mean Delta P minus the mean
    control. `above_chance` says whether the interval of the probe's AUROC lies above one half. The probe is tested on
    the samples that need the question, or on all where these are unknown. `n` counts units.
    """
    levels = anchoring["condition"].str.split("/", expand=True)
    rows = anchoring.assign(data=levels[0], split=levels[1], group=levels[2])
    rows = rows[rows["split"] != "seed"]
    captures = [str(model).removesuffix(f"-{data}") for model, data in zip(rows["model"], rows["data"], strict=True)]
    key_by_checkpoint = {
        str(name).rpartition("/")[2].lower(): key
        for key, name in models.set_index("model")["captured_checkpoint"].items()
    }
    rows["model"] = [str(key_by_checkpoint.get(model, model)) for model in captures]
    probes = _probe_rows(rows[rows["split"] == "probe"])
    knockouts = rows[rows["split"] != "probe"]
    values = knockouts.pivot(index=KEYS, columns="metric", values="value").reset_index()
    for end in ("", *(f"_{end}" for end in ENDS), "_sd"):  # only planted data have a filler
        if f"filler{end}" not in values:
            values[f"filler{end}"] = np.nan
    counts = knockouts[knockouts["metric"].isin(CURVES)].pivot(index=KEYS, columns="metric", values="n").reset_index()
    last_layer = values.groupby(["model", "data"])["layer"].transform("max").astype(float)
    columns = [f"{name}{end}" for name in (*CURVES, "filler") for end in ("", "_low", "_high", "_sd")]
    table = values[KEYS].assign(
        depth=100 * values["layer"].astype(float) / last_layer.where(last_layer > 0, 1.0),
        **{name: values[name] for name in columns},
        **{name: values[name] for name in ("question_share", "question_share_low", "question_share_high")},
        n=counts["delta_p"].astype("int64"),
        control_n=counts["control"].astype("int64"),
        samples=values["samples"].astype("int64"),
    )
    table = table.merge(probes, on=["model", "data", "layer"], how="left", validate="many_to_one")
    names = models.set_index("model")["display_name"].to_dict()
    table.insert(1, "display_name", [names.get(model) or _model_label(model) for model in table["model"]])
    table.insert(2, "entity", [SUBJECTS[model].arm if model in SUBJECTS else model for model in table["model"]])
    table["reason"] = [_why_empty(row) for _, row in table.iterrows()]
    return table.sort_values(KEYS, ignore_index=True)


def _model_label(model: str) -> str:
    """Return the printed name of a model missing from the table of models: the subject's name, or else the key."""
    subject = subjects().get(model)
    return subject.label if subject and subject.label else model


def _probe_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the probe's scores by model, data set and layer, as `anchoring_curves` describes them."""
    question = rows["group"] == "question"
    is_known = question.groupby([rows["model"], rows["data"]]).transform("any")
    probes = rows[question | ~is_known & (rows["group"] == "all")]
    table = probes.pivot(index=["model", "data", "layer"], columns="metric", values="value").reset_index()
    names = ["model", "data", "layer", "auroc", "auroc_low", "auroc_high", "accuracy"]
    return table[names].assign(above_chance=table["auroc_low"] > CHANCE)


def _why_empty(row: pd.Series) -> str:
    reasons = []
    if row["n"] == 0:
        reasons.append("no sample in this group")
    elif row["n"] == 1:
        reasons.append("one unit has no spread")
    elif row["control_n"] == 0:
        reasons.append("no sample has as many other tokens as the question has")
    elif row["control_n"] == 1:
        reasons.append("one unit has a control, which has no spread")
    if row["n"] and pd.isna(row["filler"]):
        reasons.append("filler: no text around the question")
    if row["split"] not in ("design", "all"):
        reasons.append("question_share: the group is made by it")
    return "; ".join(reasons)


def anchoring_tests(anchoring_curves: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return tests by layer, corrected over all splits and layers for each hypothesis, model and data set.

    The tests are a paired t-test of cut against no cut in each group, a paired t-test of cut against control, and
    Welch's t-test between the groups. Layers whose probe is not above chance are tested too, with a note.
    """
    estimates: list[Estimate] = []
    for keys, curve in anchoring_curves[anchoring_curves["split"].isin(TESTED_SPLITS)].groupby(
        ["model", "data", "split"], sort=False
    ):
        name = "/".join(map(str, keys))
        groups = {str(group): rows for group, rows in curve.groupby("group")}
        for group, rows in groups.items():
            estimates += _paired_tests(f"{name}/{group}, cut against none", rows, "delta_p")
        estimates += _paired_tests(f"{name}/question, cut against control", groups["question"], "excess")
        estimates += _compare_groups(f"{name}, question against answer", groups)
    return frame(corrected(estimates, test_families, "anchoring_tests", _model_and_data_set))


def _model_and_data_set(row: Estimate) -> str:
    return "/".join(row.study.split("/")[:2])


def _paired_tests(study: str, rows: pd.DataFrame, metric: str) -> Iterator[Estimate]:
    column = "control_n" if metric == "excess" else "n"
    for _, row in rows.iterrows():
        yield _paired_t_from_stats(
            float(row[metric]) if row[column] else math.nan,
            float(row[f"{metric}_sd"]) if row[column] > 1 else 0.0,
            int(row[column]),
            study=study,
            comparison=f"layer {row['layer']}",
            note=_note_on_units(row),
        )


def _paired_t_from_stats(mean: float, sd: float, n: int, *, study: str, comparison: str, note: str) -> Estimate:
    """Compute the paired t-test from mean and sd (ddof 1) of n differences; `paired_t` needs the values themselves."""
    if n == 0 or n == 1 or sd <= 1e-9 * max(1.0, abs(mean)):
        why = {0: "no unit", 1: "a single unit"}.get(n, "the differences have no variance")
        return Estimate(
            study=study, comparison=comparison, test="paired_t", unit="unit", n=n,
            estimate=mean if n else None, effect_name="d_z", note=f"{note}; no interval, statistic and effect: {why}",
        )  # fmt: skip
    error = sd / math.sqrt(n)
    half = float(stats.t.isf(0.025, n - 1)) * error
    interval = d_z_interval(mean / error, n)
    return Estimate(
        study=study,
        comparison=comparison,
        test="paired_t",
        unit="unit",
        n=n,
        estimate=mean,
        ci_low=mean - half,
        ci_high=mean + half,
        statistic=mean / error,
        df=n - 1,
        p_value=float(2 * stats.t.sf(abs(mean / error), n - 1)),
        effect_name="d_z",
        effect=mean / sd,
        effect_ci_low=interval[0] if interval else None,
        effect_ci_high=interval[1] if interval else None,
        note=join_notes(
            note,
            "" if interval else no("d_z interval", because="the noncentral t has no finite ends here"),
            *few_units(n, "unit"),
        ),
    )


def _compare_groups(study: str, groups: dict[str, pd.DataFrame]) -> Iterator[Estimate]:
    by_layer = (groups[group].sort_values("layer") for group in ("question", "answer"))
    for (_, first), (_, second) in zip(*(rows.iterrows() for rows in by_layer), strict=True):
        if min(first["n"], second["n"]) < 2:
            continue
        yield welch_t_from_stats(
            *(first["delta_p"], first["delta_p_sd"], int(first["n"])),
            *(second["delta_p"], second["delta_p_sd"], int(second["n"])),
            study=study,
            comparison=f"layer {first['layer']}",
            unit="unit",
            names=("question", "answer"),
            note=f"{_note_on_units(first)}; a unit with samples in both groups counts in both",
        )


def _note_on_units(row: pd.Series) -> str:
    chance = "" if row["above_chance"] else "; the probe is not above chance, so not interpreted"
    return "a unit is a question, or all statements about one name" + chance


LANDMARKS: dict[str, Callable[[pd.DataFrame], int]] = {
    "start": lambda rows: 0,
    "lowest": lambda rows: int(np.argmin(rows["delta_p"])),
    "highest": lambda rows: int(np.argmax(rows["delta_p"])),
    "end": lambda rows: len(rows) - 1,
}


def anchoring_landmarks(anchoring_curves: pd.DataFrame) -> pd.DataFrame:
    """Return the first, lowest, highest and last point of each curve, for groups formed at each layer.

    Layers whose probe is not above chance, and layers without a sample in the group, are omitted.
    """
    rows = anchoring_curves[(anchoring_curves["split"] == "layer") & anchoring_curves["above_chance"].astype(bool)]
    rows = rows.assign(layers=rows["model"].map(anchoring_curves.groupby("model")["layer"].max() + 1))
    landmarks = []
    for keys, curve in rows[rows["n"] > 0].groupby(["model", "display_name", "positional", "data", "group"]):
        curve = curve.sort_values("layer").reset_index(drop=True)
        for landmark, choose in LANDMARKS.items():
            row = curve.iloc[choose(curve)]
            landmarks.append(
                {
                    **dict(zip(("model", "display_name", "positional", "data", "group"), keys, strict=True)),
                    "landmark": landmark,
                    "layer": int(row["layer"]),
                    "layers": int(row["layers"]),
                    **{name: float(row[name]) for name in ("delta_p", "delta_p_low", "delta_p_high", "control")},
                    "n": int(row["n"]),
                    "reason": "" if pd.notna(row["control"]) else str(row["reason"]),
                }
            )
    return pd.DataFrame(landmarks)
