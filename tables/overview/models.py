"""Every model and checkpoint of the thesis: architecture, context, and what was captured and scored."""

import re

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from boundpaper.typeset.wording import whole


def table(models: pd.DataFrame) -> Table:
    """Return one row per model or checkpoint."""
    encodings = models.groupby("family")["position_encoding"].first()
    remarks = [_model_remark(row, encodings[row["family"]]) for _, row in models.iterrows()]
    names = {text: f"remark{number}" for number, text in enumerate(dict.fromkeys(filter(None, remarks)), 1)}
    rows = models.assign(
        group=[f"{family}: {_base_text(encodings[family])}" for family in models["family"]],
        mark=[names.get(text, "") for text in remarks],
    )
    captured = rows[rows["subject"] == "captured"]
    same_count = int((captured["checkpoint_match"] == "same checkpoint").sum())
    scored = int((captured["scored_checkpoint"] != "").sum())
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            Column("parameters_nominal_b", "Size", fixed(1), unit="billion"),
            Column("layers", "Layers", integer()),
            Column("query_heads", "query", integer(), group="Heads"),
            Column("key_heads", "key", integer(), group="Heads"),
            Column("head_dim", "dim.", integer(), group="Heads"),
            Column("claimed_context", "claimed", integer(), group="Context (tokens)", missing="not stated"),
            Column(
                "captured_context",
                "captured",
                integer(),
                group="Context (tokens)",
                missing="not captured, or over a context that differs by checkpoint",
            ),
            Column("captured_checkpoint", "captured or studied", group="Checkpoint"),
            Column("scored_checkpoint", "scored", group="Checkpoint", missing="in neither benchmark"),
        ],
        groups="group",
        landscape=True,
        size="scriptsize",
        space=0,
        marks={name: text for text, name in names.items()},
        caption=(
            f"Models and checkpoints. Of {len(captured)} captured models {scored} have a score in LongBench Pro or "
            f"RULER; of {same_count} the captured checkpoint is the scored one. From public configurations and model "
            "cards."
        ),
        note=(
            "Headings name each family's position encoding, with the base $\\theta$ of its rotation. Size: parameters "
            "by name. Layers count cross-attention blocks. The claimed context includes extension by YaRN. Attention "
            "is over the full context unless remarked."
        ),
    )


def _model_remark(row: pd.Series, usual_encoding: str) -> str:
    remarks = [] if row["attention"] == "full" else [f"Attention: {row['attention']}"]
    remarks += [] if row["position_encoding"] == usual_encoding else [f"Position encoding: {row['position_encoding']}"]
    return ". ".join(remarks)


def _base_text(encoding: str) -> str:
    """Return the rotation base as LaTeX; large numbers get separators."""
    return re.sub(r"\d{5,}", lambda match: whole(int(match[0])), encoding.replace("theta", "θ"))
