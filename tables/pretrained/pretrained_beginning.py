"""A pretrained model on texts that begin with the beginning-of-sequence token, or with a word."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables.pretrained._cells import why_empty, with_interval

STARTS = {"word": "With a word", "token": "With its token", "difference": "Token minus word"}
ROWS = {
    "Attention": {
        "first_attention": ("to the first token", "%", 1),
        "local_attention": ("to the five tokens before", "%", 1),
        "sink_rate": ("heads that give the first token 0.3", "%", 1),
    },
    "The same without the rotation in the computation": {
        "first_unrotated": ("to the first token", "%", 1),
        "first_change": ("change", "points", 1),
        "local_unrotated": ("to the five tokens before", "%", 1),
        "local_change": ("change", "points", 1),
    },
    "First token": {
        "largest_ratio": ("norm over the others', largest of all layers", "ratio", 1),
        "largest_ratio_layer": ("layer after which it is largest", "", 0),
        "value_ratio": ("length of its values over the others'", "ratio", 2),
    },
    "Zeroed at the first token": {
        "mlp_matching": ("MLP output where that lowers its norm most", "nats", 2),
        "mlp_best": ("MLP output where that costs most", "nats", 2),
        "values_spike": ("values where it first stands out", "nats", 2),
        "values_all": ("values of all layers", "nats", 2),
    },
}


def table(pretrained_beginning: pd.DataFrame) -> Table:
    """Return one row per quantity and one column per kind of beginning."""
    rows = []
    for (_, name), model_rows in pretrained_beginning.groupby(["model", "display_name"], sort=False):
        cells = model_rows.set_index(["quantity", "start"]).T
        for group, quantities in ROWS.items():
            for key, (label, unit, digits) in quantities.items():
                row = {"group": group, "label": f"{label} ({unit})" if unit else label, "model": name}
                for start in STARTS:
                    has_cell = (key, start) in cells
                    row[start] = with_interval(cells[key, start], fixed(digits)) if has_cell else ""
                    row[f"why_{start}"] = why_empty(cells[key, start]) if has_cell else "No spread over texts, no pairs"
                rows.append(row)
    frame = pd.DataFrame(rows)
    texts = int(pretrained_beginning["n"].max())
    lengths = sorted(set(pretrained_beginning.loc[pretrained_beginning["quantity"] == "tokens", "value"].astype(int)))
    token_counts = " and ".join(str(length) for length in lengths)
    return Table(
        rows=frame,
        columns=[
            Column("label", "", width=0.42),
            *(Column(start, name, align="right", reason=f"why_{start}") for start, name in STARTS.items()),
        ],
        groups="group",
        space=0,
        size="footnotesize",
        column_space=3,
        caption=(
            f"{', '.join(dict.fromkeys(frame['model']))} with its beginning token in front of a text, and with a word "
            f"as its tokeniser begins. Unit: one text; n = {texts} parts of {token_counts} tokens. In brackets "
            "Student's 95 % intervals over texts; of the difference, over texts in pairs."
        ),
        short="A pretrained model with and without its beginning token",
        note=(
            "Without the beginning token each part of a text begins up to one token later. Without the rotation in the "
            "computation: the model is unchanged, and attention is computed again from its queries and keys before the "
            "rotation. The cost of ablations is measured on other parts than those on which the layer was chosen."
        ),
    )
