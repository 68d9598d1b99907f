"""Compare the ledger with the documents: the number of verdicts for each section, and what was left out."""

import pandas as pd

from boundpaper.errors import DataError

HOLDING = ("holds", "holds after rounding")


def ledger_coverage(claims_coverage: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """The ledger by section of the documents: one row per section, in the documents' order.

    `judged` counts the ledger's statements, `holding` those among them that hold, `cells` its cell checks. A statement
    of several sections counts in the one that the ledger names for it. Raises DataError when a section of the ledger
    belongs to no section of its document, or to several.
    """
    homes = _section_of_names(claims_coverage)
    own = claims[claims["source"] != "thesis"]
    places = list(zip(own["source"], own["section"], strict=True))
    lost = [f"{source}, {section}" for source, section in dict.fromkeys(places) if (source, section) not in homes]
    if lost:
        raise DataError(
            f"ledger_coverage: no row of claims_coverage lists {'; '.join(lost)} in ledger_sections; add it to the row "
            "of its section"
        )
    counted = pd.DataFrame(
        {
            "document": own["source"].to_numpy(),
            "section": [homes[place] for place in places],
            "judged": (own["kind"] == "statement").to_numpy(),
            "holding": ((own["kind"] == "statement") & own["verdict"].isin(HOLDING)).to_numpy(),
            "cells": (own["kind"] == "cell check").to_numpy(),
        }
    )
    sums = counted.groupby(["document", "section"], as_index=False).sum()
    rows = claims_coverage[["document", "section", "statements", "left_out"]]
    table = rows.merge(sums, on=["document", "section"], how="left")
    for column in ("judged", "holding", "cells"):
        table[column] = table[column].fillna(0).astype("Int64")
    return table[["document", "section", "statements", "judged", "holding", "cells", "left_out"]]


def _section_of_names(coverage: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the document's section for each section name in the ledger."""
    homes: dict[tuple[str, str], str] = {}
    for _, row in coverage.iterrows():
        for name in str(row["ledger_sections"]).split(" | ") if row["ledger_sections"] else []:
            key = (str(row["document"]), name)
            if key in homes:
                raise DataError(
                    f"claims_coverage: {row['document']}, {name} is in two rows, {homes[key]} and {row['section']}; "
                    "leave it in one"
                )
            homes[key] = str(row["section"])
    return homes
