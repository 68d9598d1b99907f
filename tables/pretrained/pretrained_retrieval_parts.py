"""Shares of keys that pretrained models find, by wording and position, and shares of wrong keys that they confirm."""

from collections.abc import Sequence

import pandas as pd

from boundpaper.tables import Column, Table, fixed, sentences

PARTS = {
    "form": "Keys found, by the wording of the prompt, %",
    "depth": "Keys found, by the key's place in its length, %",
    "shown": "Yes, of yes and no, after a number that is shown, %",
    "rank": "Rank of yes after the key, against a wrong one",
}
RANK = "rank"
UNASKED = "Not asked at this length."
NO_INTERVAL = "Without an interval; a dash: not asked at this length."
LABELS = {
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
    """Return one row per wording, fifth of the prompt or kind of key, with one column per length."""
    parts = pretrained_retrieval_parts
    lengths = sorted(parts["tokens"].unique())
    rows = []
    for keys, cells in parts.groupby(["display_name", "part", "which"], sort=False):
        name, part, which = map(str, keys)
        by_length = cells.set_index("tokens")
        row = {"model": name, "label": _part_label(part, which), "n": int(cells["n"].min())}
        row["why"] = UNASKED if part != "shown" else NO_INTERVAL
        rows.append(row | {"part": part} | _percent_by_length(by_length, ("value", "low", "high"), lengths))
        if part == "shown" and by_length["auc"].notna().any():
            rows.append(row | {"part": RANK} | _percent_by_length(by_length, ("auc",), lengths))
    frame = pd.DataFrame(rows)
    many_models = frame["model"].nunique() > 1
    frame["group"] = [
        f"{model}: {PARTS[part]}" if many_models else PARTS[part] for model, part in frame[["model", "part"]].values
    ]
    models = list(dict.fromkeys(frame["model"]))
    places = {"model": models.index, "part": list(PARTS).index}
    frame = frame.sort_values(list(places), key=lambda column: column.map(places[str(column.name)]), kind="stable")
    p_values = parts[parts["which"] == "wrong"].sort_values("tokens")["p_holm"]
    p_texts = [f"$p$ = {p:.3f}" for p in p_values]
    columns = [Column("label", "", sentences, width=0.2)]
    for length in lengths:
        interval = (f"low_{length}", f"high_{length}")
        columns.append(
            Column(f"value_{length}", f"{length:,}", fixed(0), ci=interval, group="Tokens of the prompt", reason="why")
        )
    columns.append(Column("n", "Prompts"))
    return Table(
        rows=frame.reset_index(drop=True),
        columns=columns,
        groups="group",
        size="footnotesize",
        caption=(
            f"Keys by the parts of a prompt: {', '.join(dict.fromkeys(frame['model']))}. Unit: one prompt; in brackets "
            "Wilson's 95 % interval; all prompts of a column have one length."
        ),
        short="Keys by wording, place and wrong key",
        note=(
            "Rank: how often in a hundred comparisons yes is likelier after the key than after this kind of wrong key, "
            "fifty by chance; for all wrong keys Mann and Whitney's exact test gives "
            f"{', '.join(p_texts)} after Holm at the {len(p_texts)} lengths."
        ),
    )


def _percent_by_length(by_length: pd.DataFrame, columns: Sequence[str], lengths: Sequence[int]) -> dict[str, float]:
    """Return percentages by field name (`value_512`); `columns` lists the source columns of value, low and high."""
    names = ("value", "low", "high")
    no_values = {f"{name}_{length}": float("nan") for name in names for length in lengths}
    return no_values | {
        f"{name}_{length}": 100 * by_length[column].get(length, float("nan"))
        for name, column in zip(names, columns, strict=False)
        for length in lengths
    }


def _part_label(part: str, which: str) -> str:
    if part != "depth":
        return LABELS.get(which, which)
    low, high = (100 * float(end) for end in which.split("-"))
    return f"{low:.0f} to {high:.0f} %"
