"""Number of claims that were planned, decided after seeing data, or exploratory."""

import pandas as pd

from boundpaper.tables import Column, Table, integer, text

ORDER = [
    "planned",
    "planned in the amendment",
    "secondary in the amendment",
    "post hoc",
    "exploratory",
    "no test",
    "asked by the documents",
]


def table(standing_counts: pd.DataFrame) -> Table:
    """Return one row per group of results, planned ones first."""
    rows = standing_counts.sort_values("standing", key=lambda names: names.map(ORDER.index), kind="stable")
    rows = rows.assign(shown=rows["standing"].str.capitalize())
    planned = int(rows.loc[rows["standing"] == "planned", "claims"].sum())
    return Table(
        rows=rows,
        columns=[
            Column("what", "Results", text, width=0.36),
            Column("decided", "Decided", text, width=0.46),
            Column("claims", "all", integer(), group="Claims"),
            Column("hold", "hold", integer(), group="Claims"),
            Column("contradicted", "fail", integer(), group="Claims"),
            Column("undecided", "open", integer(), group="Claims"),
        ],
        groups="shown",
        space=0,
        long=True,
        size="footnotesize",
        caption=(
            f"Planned or not: all {int(rows['claims'].sum()):,} claims of the ledger; {planned} of them are on tests "
            "that were planned before a reported model was trained. Unit: one claim."
        ),
        short="Planned, post hoc and exploratory results",
        note=(
            "Planned: by the plan of the population. In the amendment: fixed after the first run and before the "
            "second. Post hoc: decided after data of the same kind were seen. Exploratory: without a plan. Open: not "
            "significant, not supported or not testable; for statements of documents, not supported is a judgement."
        ),
    )
