"""Networks with random weights: how metrics change along the context before anything is learned."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, signed, text

ESTIMATORS = {"bucket_full": "pooled", "aligned_full": "aligned"}
KINDS = {"rope": "rotation", "none": "no rotation"}
CASES = {"first layer": ("written", "first"), "last layer": ("written", "last")}
CASES |= {"no attention": ("silenced", "all"), "early queries": ("early queries", "all")}


def table(null_levels: pd.DataFrame, null_causes: pd.DataFrame) -> Table:
    """One row per size and positional kind, at one position and in the widest bins."""
    widest = int(null_levels["width"].max())
    single = (null_levels["width"] == 1) & (null_levels["estimator"] == "aligned_full")
    pooled = (null_levels["width"] == widest) & (null_levels["estimator"] == "bucket_full")
    cells = ["size", "positional"]

    def of(rows: pd.DataFrame, quantity: str, place: str) -> pd.DataFrame:
        return rows[(rows["quantity"] == quantity) & (rows["place"] == place)].set_index(cells)

    one, many = null_levels[single], null_levels[pooled]
    change, swayed = of(one, "plasticity", "change"), of(one, "sway", "change")
    wide = of(many, "plasticity", "change")
    rows = change[["seeds"]].assign(
        level=of(one, "plasticity", "first")["value"],
        change=change["value"], change_low=change["low"], change_high=change["high"],
        wide=wide["value"], wide_low=wide["low"], wide_high=wide["high"],
        sway=of(one, "sway", "first")["value"], swayed=swayed["value"],
    ).reset_index()  # fmt: skip
    rows["kind"] = rows["positional"].map(KINDS)
    causes = null_causes.query("quantity == 'plasticity'").set_index(["case", "depth", *cells])["change"].sort_index()
    rows = rows.join(pd.DataFrame({name: causes[place] for name, place in CASES.items()}), on=cells)
    seeds = int(rows["seeds"].iloc[0])
    return Table(
        rows=rows,
        columns=[
            Column("size", "Layers x width", text),
            Column("kind", "Positions", text),
            Column("level", "first", fixed(3), group="Plasticity, one position"),
            Column("change", "change", signed(3), ci=("change_low", "change_high"), group="Plasticity, one position"),
            Column("wide", f"change, bins of {widest}", signed(3), ci=("wide_low", "wide_high")),
            *(Column(name, name, signed(3), group="By layer", missing="not measured") for name in CASES),
            Column("sway", "first", fixed(2), group="Sway"),
            Column("swayed", "change", signed(2), group="Sway"),
        ],
        size="footnotesize",
        caption=(
            f"Networks with random weights, {seeds} initialisations of each size: plasticity in the first training "
            "length of the texts, and the last of four less the first. Unit: one network."
        ),
        short="Networks with random weights",
        note="Intervals: Student's over initialisations. Sway: pairs whose winner changes when positions do. No "
        "attention: its output is 0 in every layer. Early queries: those of the first training length, late.",
    )
