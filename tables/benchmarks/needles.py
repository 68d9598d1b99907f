"""Share of needles found in generated noise, by length and task, for models that this project scored."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer

TASKS = (
    ("noise_single", "one needle"),
    ("noise_multikey", "among other keys"),
    ("noise_multivalue", "all of a key"),
    ("noise_multiquery", "of several keys"),
)
DATA = "needles in noise"


def table(measured_ruler: pd.DataFrame, measured_ruler_lengths: pd.DataFrame, pretrained_models: pd.DataFrame) -> Table:
    """Return one row per model and length: the share found in each task, and the mean over tasks."""
    means = measured_ruler_lengths[measured_ruler_lengths["data"] == DATA]
    tasks = measured_ruler[(measured_ruler["data"] == DATA) & (measured_ruler["slice"] == "task")]
    by_task = tasks.pivot_table(index=["model", "length"], columns="key", values="value")
    by_task = by_task.reindex(columns=[key for key, _ in TASKS])
    rows = means.merge(by_task, on=["model", "length"], how="left")
    names = dict(zip(pretrained_models["model"], pretrained_models["display_name"], strict=True))
    rows["display_name"] = rows["model"].map(names).fillna(rows["display_name"])
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("tokens", "Tokens", integer()),
            *(Column(key, title, fixed(0), group="Found (%)", missing="not asked") for key, title in TASKS),
            Column("score", "Mean (%)", fixed(1), ci=("ci_low", "ci_high"), reason="note"),
            Column("samples", "Samples", integer()),
        ],
        space="model",
        caption=(
            "Needles in generated noise by length of the prompt: tasks of RULER's kind in sentences of this project's "
            "own. Unit: one sample."
        ),
        short="Needles in generated noise",
        note=(
            "The share of the numbers asked for that the answer holds, and its mean over the four tasks with its "
            "95 % interval over samples. No score of the benchmark."
        ),
    )
