"""Numbers of the population's planned models that are counted, excluded or not yet trained."""

import pandas as pd

from boundpaper.tables import Column, Table, integer
from tables.population._arms import ARMS

STATES = ("counted", "excluded", "not trained")


def table(population_record: pd.DataFrame) -> Table:
    """Return counts of models by base and arm."""
    records = []
    for (arm, base), models in population_record.groupby(["arm", "base"]):
        counts = models["status"].value_counts()
        untrained = models.loc[models["status"] == "not trained", "seed"]
        base_text = "none" if base == 0 else f"{base:,}"
        states = {state.replace(" ", "_"): int(counts.get(state, 0)) for state in STATES}
        seeds = ", ".join(str(seed) for seed in untrained)
        records.append({"base": base_text, "arm": arm, "what": ARMS[str(arm)], **states, "seeds": seeds})
    rows = pd.DataFrame(records)
    seed_columns = [Column("seeds", "Seeds not trained yet")] if rows["seeds"].any() else []
    per_row = population_record.groupby(["arm", "base"]).size().max()
    trained = int((population_record["status"] != "not trained").sum())
    return Table(
        rows=rows,
        columns=[
            Column("arm", "Arm"),
            Column("what", "Training"),
            Column("base", "Base"),
            Column("counted", "Counted", integer(), group="Models"),
            Column("excluded", "Excluded", integer(), group="Models"),
            *seed_columns,
        ],
        caption=(
            f"The plan of the population and its record: {trained} of {len(population_record)} models are trained and "
            f"measured, {per_row} planned for each row. Unit: one model."
        ),
        short="The plan of the population and its record",
        note=(
            "Excluded: missed the criterion of convergence, or starts from one that did."
            + (
                " Models that are not trained yet stay in the plan, whose command trains them in order."
                if seed_columns
                else ""
            )
        ),
    )
