"""Delta P of planted statements in the small models that ship with the project, by layer and statement design."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables._house import ends, range_phrase

SUFFIXES = {"question_share": "share", "control": "control", "filler": "filler"}


def table(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> Table:
    """Return one row per model and layer."""
    lab = subjects[subjects["role"] == "lab"]
    planted = anchoring_curves[anchoring_curves["model"].isin(lab["model"]) & (anchoring_curves["data"] == "planted")]
    rows = _side_by_side(planted[planted["split"] == "design"], lab)
    filler = max(rows[f"{group}_filler"].abs().max() for group in ("question", "answer"))
    seeds = sorted(set(lab["seed"].astype(int)))
    return Table(
        rows=rows,
        columns=[
            Column("layer", "Layer"),
            Column("auroc", "AUROC", fixed(2), mark="blind"),
            Column("question", "$\\Delta P$", fixed(1), ci=ends("question"), group="needs the question"),
            Column("question_share", "flips", fixed(0), group="needs the question"),
            Column("question_control", "other", fixed(1), group="needs the question"),
            Column("answer", "$\\Delta P$", fixed(1), ci=ends("answer"), group="answer alone tells"),
            Column("answer_share", "flips", fixed(0), group="answer alone tells"),
            Column("answer_control", "other", fixed(1), group="answer alone tells"),
        ],
        groups="name",
        marks={"blind": "The probe is not above chance here: the row is not interpreted."},
        caption=(
            "$\\Delta P$ of planted statements in three small models, in percentage points, by what the truth of a "
            f"statement needs: arms A, B and C of the population, seed {', '.join(map(str, seeds))}. The groups are "
            "made by design, not by the outcome. Brackets: 95 % bootstrap intervals. Unit: one of "
            f"{range_phrase(planted.loc[planted['split'] == 'all', 'n'])} names that statements are about."
        ),
        short="$\\Delta P$ of planted statements in small models",
        note=(
            "AUROC: of the probe, over the statements that need the question. Flips: percent of statements "
            "whose predicted class changes. Other: $\\Delta P$ when as many tokens outside of the question are "
            "cut, drawn from all before the answer; drawn from the text before the sentence they move $\\Delta P$ by "
            f"{filler:.1f} at most. The answer alone "
            "shows that a statement is false if its object belongs to no name; all other statements need the "
            "question. One training each: intervals are over names and say nothing about other seeds."
        ),
    )


def _side_by_side(planted: pd.DataFrame, lab: pd.DataFrame) -> pd.DataFrame:
    by_group = {
        group: planted[planted["group"] == group].set_index(["model", "layer"]) for group in ("question", "answer")
    }
    table = by_group["question"][["auroc", "above_chance"]].copy()
    for group, rows in by_group.items():
        table[group], table[f"{group}_low"], table[f"{group}_high"] = (
            rows[f"delta_p{end}"] for end in ("", "_low", "_high")
        )
        for source, name in SUFFIXES.items():
            table[f"{group}_{name}"] = rows[source]
    table = table.reset_index()
    labels = lab.set_index("model")["label"]
    table["name"] = table["model"].map(labels)
    table["blind"] = ["" if above_chance else "blind" for above_chance in table["above_chance"].astype(bool)]
    order = {model: index for index, model in enumerate(labels.index)}
    return table.sort_values(["model", "layer"], key=lambda column: column.map(order).fillna(column), ignore_index=True)
