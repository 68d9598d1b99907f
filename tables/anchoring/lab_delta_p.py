"""Delta P of the tiny pair by layer, with training seeds as units and statements grouped by their design."""

import pandas as pd

from tables import Column, Table, fixed

NAMES = {"rope": "RoPE", "drope": "DroPE"}


def table(
    lab_anchoring: pd.DataFrame,
    anchoring_curves: pd.DataFrame,
    lab_anchoring_tests: pd.DataFrame,
    subjects: pd.DataFrame,
) -> Table:
    """One row a model of the pair and layer."""
    wide = _side_by_side(lab_anchoring)
    seeds = int(wide["seeds"].min())
    spread = "brackets: 95 % t intervals" if seeds > 1 else "one seed has no interval"
    own = anchoring_curves["model"].isin(subjects.loc[subjects["role"] == "lab", "model"])
    tiny = anchoring_curves[own & (anchoring_curves["split"] == "all")]
    known = lab_anchoring_tests[lab_anchoring_tests["p_adjusted"].notna()]
    tested = (
        f" DroPE against RoPE, paired t over {int(known['n'].min())} seeds by group and layer, Holm over all: the "
        f"smallest corrected p is {known['p_adjusted'].min():.2f}."
        if len(known)
        else ""
    )
    return Table(
        rows=wide,
        columns=[
            Column("name", "Model", repeat=False),
            Column("layer", "Layer"),
            Column("auroc", "AUROC", fixed(3), mark="blind"),
            Column("question", "$\\Delta P$", fixed(1), ci=_ends("question"), reason="why", group="needs the question"),
            Column("question_share", "flips, %", fixed(1), group="needs the question"),
            Column("question_control", "other", fixed(1), group="needs the question"),
            Column("question_filler", "filler", fixed(1), group="needs the question"),
            Column("answer", "$\\Delta P$", fixed(1), ci=_ends("answer"), reason="why", group="answer alone tells"),
            Column("answer_share", "flips, %", fixed(1), group="answer alone tells"),
            Column("answer_control", "other", fixed(1), group="answer alone tells"),
            Column("answer_filler", "filler", fixed(1), group="answer alone tells"),
        ],
        groups="name",
        group_style="rule",
        space=0,
        marks={"blind": "Not every seed's probe is above chance here: the row is not interpreted."},
        caption=(
            "$\\Delta P$ of planted statements in the tiny pair, in percentage points, by what the truth of a "
            "statement needs. The groups are made by design, not by the outcome. Mean over "
            f"{seeds} training seed{'s' * (seeds > 1)}, {spread}. Unit: training seed, each a mean over "
            f"{_between(tiny['n'])} names."
        ),
        short="$\\Delta P$ of planted statements in the tiny pair",
        note=(
            "AUROC: of the probe, over the statements that need the question. Flips: statements whose predicted class "
            "changes. Other: $\\Delta P$ when as many tokens are cut that are not of the question, drawn from all "
            "before the answer; filler: from the text before the sentence. The answer alone tells that a "
            "statement is false when its object belongs to no name; all other statements need the question." + tested
        ),
    )


def _side_by_side(lab: pd.DataFrame) -> pd.DataFrame:
    designed = lab[lab["split"] == "design"]
    sides = {
        group: designed[designed["group"] == group].set_index(["positional", "layer"])
        for group in ("question", "answer")
    }
    table = sides["question"][["seeds", "seeds_above_chance", "auroc"]].copy()
    for group, rows in sides.items():
        table[group] = rows["delta_p"]
        table[f"{group}_low"], table[f"{group}_high"] = rows["delta_p_low"], rows["delta_p_high"]
        table[f"{group}_share"], table[f"{group}_filler"] = rows["question_share"], rows["filler"]
        table[f"{group}_control"] = rows["control"]
    table = table.reset_index()
    table["name"] = table["positional"].map(NAMES)
    table["blind"] = ["" if row["seeds_above_chance"] == row["seeds"] else "blind" for _, row in table.iterrows()]
    table["why"] = "one training seed"
    return table.sort_values(["positional", "layer"], ascending=[False, True], ignore_index=True)


def _between(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _ends(name: str) -> tuple[str, str]:
    return f"{name}_low", f"{name}_high"
