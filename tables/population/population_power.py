"""Smallest differences that the seeds of the population could have shown, by contrast."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer
from tables.population._contrasts import with_names

BASES = ("400", "10000")


def table(population_power: pd.DataFrame) -> Table:
    """Return one row per contrast, with one group of columns per base."""
    by_base = {base: group.set_index("item") for base, group in population_power.groupby("of")}
    rows = by_base[BASES[0]].reset_index()
    for base in BASES:
        for name in ("seeds", "detectable", "note"):
            rows[f"{name}_{base}"] = rows["item"].map(by_base[base][name])
    rows = with_names(rows, tuple(f"detectable_{base}" for base in BASES))
    columns = [Column("what", "Outcome"), Column("arms", "Arms"), Column("multiple", "At", fixed(0))]
    for base in BASES:
        group = f"Base {int(base):,}"
        columns += [
            Column(f"seeds_{base}", "seeds", integer(), group=group),
            Column(f"detectable_{base}", "detectable", fixed(1), digits="digits", reason=f"note_{base}", group=group),
        ]
    powers = population_power[population_power["of"].isin(BASES)]
    deviations, corrected_deviations = powers["deviations"].dropna(), powers["corrected"].dropna()
    sizes = (
        f"At .05 that is {deviations.min():.2f} standard deviations over the most seeds there are, corrected for the "
        f"tests of a family {corrected_deviations.min():.2f} to {corrected_deviations.max():.2f}. "
        if len(corrected_deviations)
        else ""
    )
    return Table(
        rows=rows,
        columns=columns,
        size="footnotesize",
        caption=(
            "For each planned contrast, the smallest difference that the population's seeds would detect in four of "
            "five repetitions, given the observed spread over seeds. Unit: one training seed."
        ),
        short="What the seeds of the population could have shown",
        note=(
            "Power of the exact sign test at the first step of Holm's correction; normal differences, post hoc. "
            f"{sizes}Units as in the table of planned contrasts."
        ),
    )
