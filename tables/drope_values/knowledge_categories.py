"""Degradation by category of knowledge: as printed, and, with intervals, recomputed, in points, and above chance."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, printed
from tables._house import ends
from tables.drope_values.knowledge_tasks import UNKNOWN


def table(knowledge_categories: pd.DataFrame, drope_knowledge_categories: pd.DataFrame) -> Table:
    """Return one row per model and category."""
    cells = drope_knowledge_categories.set_index(["positional", "metric"])["printed"]
    keys = knowledge_categories[["positional", "category"]].to_numpy().tolist()
    rows = knowledge_categories.assign(
        printed=[cells[(model, f"{category}_average")] for model, category in keys],
        mark=[
            "one" if usable < tasks else ""
            for usable, tasks in knowledge_categories[["tasks_above_chance", "tasks"]].to_numpy().tolist()
        ],
    )
    ratio = cells[("RoPE", "contextual_over_parametric")]
    rope = {str(row["category"]): row for row in rows[rows["positional"] == "RoPE"].to_dict("records")}
    relative, above = (rope["contextual"][name] / rope["parametric"][name] for name in ("degradation", "above_chance"))
    return Table(
        rows=rows,
        columns=[
            Column("category", "Category"),
            Column("printed", "printed", printed(), group="Degradation"),
            Column(
                "degradation", "recomputed, %", fixed(1), ci=ends("degradation"), group="Degradation", missing=UNKNOWN
            ),
            Column("loss", "Loss, points", fixed(1), ci=ends("loss"), missing=UNKNOWN),
            Column(
                "above_chance",
                "Degradation\nabove chance, %",
                integer(),
                ci=ends("above_chance"),
                mark="mark",
                missing=UNKNOWN,
            ),
        ],
        groups="positional",
        marks={"one": "The passkey task alone: the baseline of the IMDB task is not above chance."},
        caption=(
            "Mean degradation of the two tasks of each category, with 95 % intervals: as printed in the report's "
            "Section 4.3 and recomputed, in points of accuracy, and as a share of the accuracy above chance "
            "[@africa2026]. Unit: item."
        ),
        short="Degradation by category of knowledge",
        note=(
            "Intervals by recovering the variances of the two tasks (MOVER), arms unpaired; parametric tasks have "
            "none, since the number of answers behind their shares is not stored. Contextual over parametric "
            f"for RoPE: {ratio} as printed, {relative:.1f} recomputed, {above:.1f} above chance."
        ),
    )
