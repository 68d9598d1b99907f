"""Loss of recall from the shortest to the longest text, by reader."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed


def table(recall_drop: pd.DataFrame) -> Table:
    """Return one row per reader."""
    return Table(
        rows=recall_drop,
        columns=[
            Column("name", "Reader"),
            Column("shortest", "Shortest", fixed(1)),
            Column("longest", "Longest", fixed(1)),
            Column("drop", "Drop", fixed(1), unit="points"),
        ],
        caption="Recall in percent at the ends of the lengths, and the drop between them.",
    )
