"""Networks with random weights: change of plasticity along the text before any training."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, signed, text

KINDS = {"rope": "rotation", "none": "no rotation"}
CASES = {"first": ("written", "first"), "last": ("written", "last")}  # layer
CASES |= {"silent": ("silenced", "all"), "early": ("early queries", "all")}


def table(null_levels: pd.DataFrame, null_causes: pd.DataFrame) -> Table:
    """Return one row per size and positional encoding: plasticity at one position, and its change by cause."""
    at_one_position = (null_levels["width"] == 1) & (null_levels["estimator"] == "aligned_full")
    cells = ["size", "positional"]
    plasticity = null_levels[at_one_position & (null_levels["quantity"] == "plasticity")].set_index(cells)
    level = plasticity.loc[plasticity["place"] == "first", "value"]
    rows = plasticity[plasticity["place"] == "change"].assign(level=level).reset_index()
    rows["kind"] = rows["positional"].map(KINDS)
    causes = null_causes.query("quantity == 'plasticity'").set_index(["case", "depth", *cells])["change"].sort_index()
    rows = rows.join(pd.DataFrame({name: causes[key] for name, key in CASES.items()}), on=cells)
    seeds = int(rows["seeds"].iloc[0])
    return Table(
        rows=rows,
        columns=[
            Column("size", "Layers x width", text),
            Column("kind", "Positions", text),
            Column("level", "first", fixed(3), group="Plasticity, one position"),
            Column("value", "change", signed(3), ci=("low", "high"), group="Plasticity, one position"),
            *(Column(name, name, signed(3), group="Parts", missing="not measured") for name in CASES),
        ],
        size="footnotesize",
        caption=(
            f"Networks with random weights, {seeds} initialisations of each size: plasticity in the first training "
            "length of the texts, and the last of four minus the first. Unit: one network."
        ),
        short="Networks with random weights",
        note="Intervals: Student's over initialisations. Change of parts: in the first and the last layer; silent: "
        "with the output of attention 0 in every layer; early: with queries of the first training length, late.",
    )
