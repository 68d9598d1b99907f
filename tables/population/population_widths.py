"""Plasticity of the models that ship with the project, by width of the bins in which queries are pooled or aligned."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer

MODELS = {"tiny-rope": "A", "tiny-continued": "B", "tiny-drope": "C"}
WEIGHTS = {"all": "Heads alike", "cost": "Heads weighted by the cost of removing them"}
ESTIMATORS = {"bucket_full": "pooled", "aligned_full": "aligned"}


def table(width_levels: pd.DataFrame) -> Table:
    """Return one row per bin width and weighting of heads; columns for the first and last of four training lengths."""
    plasticity = width_levels[width_levels["quantity"] == "plasticity"]
    last_length = int(plasticity["low"].max())
    ends = plasticity[plasticity["low"].isin([0, last_length])]
    columns = []
    series = {}
    for model, arm in MODELS.items():
        for estimator, word in ESTIMATORS.items():
            if model == "tiny-drope" and estimator == "bucket_full":
                continue
            for low, title in ((0, "first"), (last_length, "last")):
                name = f"{model} {estimator} {low}"
                cells = ends[(ends["model"] == model) & (ends["estimator"] == estimator) & (ends["low"] == low)]
                series[name] = cells.set_index(["weights", "width"])["value"]
                columns.append(Column(name, title, fixed(2), group=f"{arm}, {word}"))
    rows = pd.DataFrame(series).reset_index().sort_values(["weights", "width"], ignore_index=True)
    rows["part"] = rows["weights"].map(WEIGHTS)
    return Table(
        rows=rows,
        columns=[Column("width", "Words", integer()), *columns],
        groups="part",
        size="footnotesize",
        caption=(
            f"Plasticity by the width of the bins, {len(MODELS)} models that ship (one seed; A and B rotate, C does "
            "not). Unit: one model; means over its heads."
        ),
        short="Plasticity by the width of the bins",
        note=(
            "Queries come from so many words at the bin's middle, one per text; a width of 1 is one position. Pooled: "
            "as captured; aligned: rotated to the middle by the model's own rotation, which changes nothing in C. "
            "First and last: of the four training lengths of a text. The cost is of passkeys at that length, at "
            "least 0."
        ),
    )
