"""Experiments 1-9 on models of the population trained further with and without rotation, beside reported values."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

ARMS = ("kept", "dropped")
DIGITS = 2
"""Greatest number of decimals: with so few seeds, a third decimal is not reliable."""
OUTCOMES = {
    "yes": "As reported",
    "opposite": "The opposite",
    "no": "Open",
    "two directions": "Reported in both directions, so that neither counts",
}
UNITS = {"percent": "%", "nats per token": "nats", "dimensions": "count"}


def table(population_experiments: pd.DataFrame, population_directions: pd.DataFrame) -> Table:
    """Return one row per measured quantity for which the report states which model's value is higher."""
    counts = population_directions.set_index(["against", "what"])["count"]
    directed = population_experiments[population_experiments["direction"].isin(["higher", "lower"])]
    listed = directed[directed["difference"].notna() & (directed["appears"] != "not measurable")]
    left_out = directed.drop(index=listed.index)
    count, seeds = len(left_out), int(left_out["seeds"].where(left_out["difference"] != 0, 0).max() or 0)
    rows = pd.DataFrame([_cell_texts(row) for _, row in listed.iterrows()])
    rows = rows.sort_values("appears", key=lambda names: names.map(list(OUTCOMES.values()).index), kind="stable")
    return Table(
        rows=rows,
        columns=[
            Column("label", "Quantity", width=0.5),
            Column("reported_rope", "RoPE", align="right", group="Llama-2-7B"),
            Column("reported_drope", "DroPE", align="right", group="Llama-2-7B", mark="caveat"),
            Column("kept", "kept", align="right", group="Rotation"),
            Column("dropped", "dropped", align="right", group="Rotation"),
            Column("difference", "Dropped minus kept", align="right"),
        ],
        size="footnotesize",
        column_space=3,
        groups="appears",
        space=0,
        marks={"layer": "Ablated in layer 2, which does not write the spike of that model."},
        caption=(
            "What dropping the rotation changes beyond further training with it, where the DroPE report [@africa2026] "
            f"states a direction. Means over {counts['kept', 'seeds']} seeds, Student's 95 % interval of the "
            "difference."
        ),
        short="Experiments 1 to 9 on the population",
        note=(
            "As reported: the interval lies on that side of zero. Open: it contains zero, so that seeds do not decide. "
            "Not corrected for the number of rows; all trained models of the primary base, post hoc. Losses in nats "
            "per token. Texts and layers differ from the report's, so only directions are compared. Left out: "
            f"{count} quantities that ask for a massive dimension or a spike of the first token's norm; both arms "
            f"have one in {seeds} of the seeds at most."
        ),
    )


def _cell_texts(row: pd.Series) -> dict[str, object]:
    number = fixed(min(int(row["digits"]), DIGITS))

    def text(value: float) -> str:
        return "" if pd.isna(value) else number.show(value, "plain").replace("-", "\N{MINUS SIGN}")

    interval = text(row["difference_low"]), text(row["difference_high"])
    return {
        "label": f"{row['label']} ({UNITS.get(row['unit'], row['unit'])})",
        "reported_rope": text(row["reported_rope"]),
        "reported_drope": text(row["reported_drope"]),
        "caveat": "layer" if row["caveat"] else "",
        **{arm: text(row[arm]) for arm in ARMS},
        "difference": text(row["difference"]) + (f" [{interval[0]}, {interval[1]}]" if all(interval) else ""),
        "appears": OUTCOMES[row["appears"]],
    }
