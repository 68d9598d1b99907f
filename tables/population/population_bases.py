"""Planned contrasts at the larger rotation base, and their change between the bases."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables.population._contrasts import with_names

LARGER, DIFFERENCE = "10000", "400 minus 10000"
NAMES = ("seeds", "difference", "low", "high", "p_holm", "note")
SCALED = ("difference", "low", "high")


def table(population_bases: pd.DataFrame) -> Table:
    """Return one row per contrast."""
    by_base = {base: group.set_index("item") for base, group in population_bases.groupby("of")}
    rows = by_base[LARGER].reset_index()
    for name in NAMES:
        rows[f"less_{name}"] = rows["item"].map(by_base[DIFFERENCE][name])
    rows["less_note"] = rows["less_note"].fillna("no difference of bases")
    rows["less_note"] = [
        "" if is_known else note for note, is_known in zip(rows["less_note"], rows["less_low"].notna(), strict=True)
    ]
    rows = with_names(rows, (*SCALED, *(f"less_{name}" for name in SCALED)))
    return Table(
        rows=rows,
        columns=[
            Column("what", "Outcome"),
            Column("arms", "Arms"),
            Column("multiple", "At", fixed(0)),
            Column("difference", "Difference", fixed(1), digits="digits", ci=("low", "high"), group="Base 10,000"),
            Column("p_holm", "$p$", fixed(3), group="Base 10,000", blank=True),
            Column(
                "less_difference",
                "Difference",
                fixed(1),
                digits="digits",
                ci=("less_low", "less_high"),
                reason="less_note",
                group="Base 400 minus 10,000",
            ),
            Column("less_p_holm", "$p$", fixed(3), group="Base 400 minus 10,000", blank=True),
        ],
        column_space=1.2,
        space="family",
        size="footnotesize",
        reason="note",
        caption=(
            "The planned contrasts at base 10,000, means over seeds of the first arm minus the second, and those at "
            f"base 400 minus those at base 10,000, by seed; {int(rows['seeds'].max())} seeds. Unit: one training seed."
        ),
        short="The planned contrasts at base 10,000, and what the base changes",
        note=(
            "All trained models; post hoc except for far passkeys, added before the models of base 10,000 that are "
            "reported were measured. Arms as in the record of the plan; passkeys and facts in points. At: multiples of "
            "the training length. Student's intervals over seeds; p of exact sign flips, Holm within a family, for the "
            "base and for the differences by themselves. E has no base: it is compared with C of either base."
        ),
    )
