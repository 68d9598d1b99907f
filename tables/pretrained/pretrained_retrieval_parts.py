"""Keys that pretrained models find by wording and place, and how far they say yes to wrong ones."""

import pandas as pd

from tables import Column, Table, fixed

PARTS = {
    "form": "Keys found, by the wording of the prompt, %",
    "depth": "Keys found, by the key's place in its length, %",
    "shown": "Yes, of yes and no, after a number that is shown, %",
}
WHICH = {
    "code": "a code",
    "key": "a key",
    "exact": "the key itself",
    "one-digit": "one digit other",
    "swapped": "two digits exchanged",
    "shortened": "one digit less",
    "other": "another number",
    "wrong": "all wrong ones",
}


def table(pretrained_retrieval_parts: pd.DataFrame) -> Table:
    """One row a wording, fifth or kind of key, one pair of columns a length."""
    parts = pretrained_retrieval_parts
    lengths = sorted(parts["tokens"].unique())
    rows = []
    for keys, cells in parts.groupby(["display_name", "part", "which"], sort=False):
        name, part, which = map(str, keys)
        by = cells.set_index("tokens")
        row = {"group": PARTS[part], "order": list(PARTS).index(part), "label": _label(part, which), "model": name}
        for length in lengths:
            for column in ("value", "low", "high", "auc"):
                row[f"{column}_{length}"] = 100 * by[column].get(length, float("nan"))
        why = "A mean probability, without Wilson's interval." if part == "shown" else ""
        rows.append(row | {"n": int(cells["n"].min()), "why": why})
    frame = pd.DataFrame(rows).sort_values("order", kind="stable", ignore_index=True)
    tested = parts[parts["which"] == "wrong"].sort_values("tokens")["p_holm"]
    shown = [f"$p$ = {each:.3f}" for each in tested]
    columns = [Column("label", "", width=0.24)]
    for length in lengths:
        ends = (f"low_{length}", f"high_{length}")
        group = f"{length} tokens"
        columns.append(Column(f"value_{length}", "share", fixed(0), ci=ends, group=group, reason="why"))
        columns.append(Column(f"auc_{length}", "rank", fixed(0), group=group, missing="Of wrong keys."))
    columns.append(Column("n", "Prompts"))
    return Table(
        rows=frame,
        columns=columns,
        groups="group",
        size="footnotesize",
        caption=(
            f"Keys by the parts of a prompt: {', '.join(dict.fromkeys(frame['model']))}. Unit: one prompt; in brackets "
            "Wilson's 95 % interval; prompts are of one length each."
        ),
        short="Keys by wording, place and wrong key",
        note=(
            "Rank: how often in a hundred comparisons yes is likelier after the key than after this kind of wrong key, "
            "fifty by chance; of all wrong ones Mann and Whitney's exact test gives "
            f"{', '.join(shown)} after Holm at the {len(shown)} lengths."
        ),
    )


def _label(part: str, which: str) -> str:
    if part != "depth":
        return WHICH.get(which, which)
    low, high = (100 * float(end) for end in which.split("-"))
    return f"{low:.0f} to {high:.0f} %"
