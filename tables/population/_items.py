"""Table of the preregistration amendment's items: question, number of seeds, outcome of the exact tests."""

from collections.abc import Sequence

import pandas as pd

from boundpaper.tables import Column, Table, fixed, pvalue

DIGITS = {"keys_far": 2, "linear_share": 2, "content_part": 2, "position_part": 2}
QUANTITIES = {
    "plasticity": "plasticity",
    "sway": "sway",
    "position_part": "position part",
    "content_part": "content part",
    "nearer_wins": "nearer key wins",
    "linear_share": "linear share",
    "keys_far": "far passkeys",
    "ap_last_20": "late plasticity and loss",
    "ap_drop": "drop and loss",
}
SHORT_SIDES = {
    "B under YaRN without its temperature": "B, YaRN plain",
    "B under YaRN": "B, YaRN",
    "C with YaRN's temperature": "C, heated",
}


def items_table(
    tests: pd.DataFrame, amendment: pd.DataFrame, families: Sequence[str], caption: str, short: str, note: str
) -> Table:
    """Return one row per item, grouped by base: difference, seeds present and planned, corrected p, outcome."""
    weights = amendment[["item", "weights"]].fillna("")
    rows = tests[tests["family"].str.removesuffix("_10000").isin(families)].merge(weights, on="item")
    rows["what"] = [_quantity_in_words(*cells) for cells in zip(rows["quantity"], rows["family"], strict=True)]
    rows["sides"] = [_both_sides(*cells) for cells in zip(rows["first"], rows["second"], rows["family"], strict=True)]
    rows["at"] = (
        rows["place"]
        .replace({"quarter 4 less quarter 1": "4\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}1"})
        .str.replace("quarter ", "")
        .str.replace(" training lengths", "×")
        .str.replace("training length", "1×")
        .replace({"within layers": "1×"})
    )
    rows["shown"] = [f"base {int(base):,}" for base in rows["base"].astype(str)]
    rows["order"] = rows["base"].astype(int)
    rows = rows.sort_values("order", kind="stable", ignore_index=True)
    count, has_seeds = len(rows), rows["seeds"] > 0
    decided = int((rows["outcome"] != "open").sum())
    unmeasured = [name for name, group in has_seeds.groupby(rows["shown"]) if not group.any()]
    rows = rows[~rows["shown"].isin(unmeasured)].reset_index(drop=True)
    rows["shown"] += rows["shown"].map({name: _seeds_phrase(group) for name, group in rows.groupby("shown")})
    left_out = f" Not measured yet, and left out: every item at {' and '.join(unmeasured)}." if unmeasured else ""
    addition = " (permutations within seeds of a relation)" if "relations" in " ".join(families) else ""
    opening = "" if has_seeds.all() else f"{int(has_seeds.sum())} have a seed, and "
    return Table(
        rows=rows,
        columns=[
            Column("what", "Quantity", repeat=False),
            Column("sides", "First minus second"),
            Column("at", "At"),
            Column("value", "Difference", fixed(2), ci=("low", "high"), reason="note"),
            Column("p_holm", "differs", pvalue(), group="$p$", blank=True),
            Column("p_same_holm", "within", pvalue(), group="$p$", blank=True),
            Column("outcome", "Outcome"),
        ],
        groups="shown",
        size="footnotesize",
        column_space=4,
        caption=(
            f"{caption}; {opening}{decided} of {count} are decided. "
            "Unit: one training seed; Student's intervals, which decide nothing."
        ),
        short=short,
        note=(
            f"p: exact sign flips over seeds{addition}, and the exact test against the margin of "
            f"equivalence{_margins(rows)}, each with Holm over the family as planned. Open: neither is decided. "
            f"{note}{left_out}"
        ),
    )


def _margins(rows: pd.DataFrame) -> str:
    """Return a phrase with the margins of equivalence for changes within an arm, and for differences between arms."""
    rows_with_margin = rows.dropna(subset="margin")
    is_gap = rows_with_margin["first"].str[0] != rows_with_margin["second"].str[0]
    groups = (
        ("changes and widths", rows_with_margin.loc[~is_gap, "margin"]),
        ("gaps between arms", rows_with_margin.loc[is_gap, "margin"]),
    )
    phrases = [
        f"{' or '.join(fixed(2).show(margin, 'plain') for margin in sorted(set(margins)))} for {label}"
        for label, margins in groups
        if len(margins)
    ]
    return f" ({', '.join(phrases)})" if phrases else ""


def _seeds_phrase(rows: pd.DataFrame) -> str:
    """Return a phrase: how many of the planned seeds the items of one base have."""
    fewest, most = rows["seeds"].min(), rows["seeds"].max()
    return f", {'' if fewest == most else f'{fewest} to '}{most} of {rows['planned'].max()} seeds"


def _quantity_in_words(quantity: str, family: str) -> str:
    """Return the printed name of a quantity; for heads, name also the cost with which the quantity is correlated."""
    if family.startswith("heads"):
        return "cost and late plasticity" if quantity == "ap_last_20" else "cost and plasticity"
    return QUANTITIES[quantity] + (", by cost" if family.startswith("weighted") else "")


def _both_sides(first: str, second: str, family: str) -> str:
    """Return both sides of a difference in short form; for relations and heads, return how ranks are taken."""
    if family.startswith(("relations", "heads")):
        return "ranks, by layer" if family.startswith("heads") else "ranks, by seed"
    left, right = (_side_in_short(str(words)) for words in (first, second))
    return left if right == "0" else f"{left} − {right}"


def _side_in_short(words: str) -> str:
    if words in SHORT_SIDES:
        return SHORT_SIDES[words]
    arm, _, detail = words.partition(" ")
    return {"first quarter": f"{arm}, first", "last quarter": f"{arm}, last"}.get(
        detail, words.replace(" in bins of", ", bins of")
    )
