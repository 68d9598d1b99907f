"""Compare the ledger with the documents: number of verdicts by section, and omissions."""

import pandas as pd

from boundpaper.claims.verdict import GOOD
from boundpaper.errors import DataError


def ledger_coverage(claims_coverage: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Return the ledger's coverage, one row per section, in the documents' order.

    `judged` counts the ledger's statements, `holding` the statements that hold, `cells` the cell checks. A statement in
    several sections counts in the section that the ledger names. Raises DataError if a section of the ledger belongs
    to no section of its document, or to several.
    """
    sections = _section_of_names(claims_coverage)
    judged_claims = claims[claims["source"] != "thesis"]
    names = list(zip(judged_claims["source"], judged_claims["section"], strict=True))
    unlisted = [f"{source}, {section}" for source, section in dict.fromkeys(names) if (source, section) not in sections]
    if unlisted:
        raise DataError(
            f"no row of claims_coverage lists {'; '.join(unlisted)} in ledger_sections; add it to the row "
            "of its section"
        )
    flags = pd.DataFrame(
        {
            "document": judged_claims["source"].to_numpy(),
            "section": [sections[name] for name in names],
            "judged": (judged_claims["kind"] == "statement").to_numpy(),
            "holding": ((judged_claims["kind"] == "statement") & judged_claims["verdict"].isin(GOOD)).to_numpy(),
            "cells": (judged_claims["kind"] == "cell check").to_numpy(),
        }
    )
    sums = flags.groupby(["document", "section"], as_index=False).sum()
    rows = claims_coverage[["document", "section", "statements", "left_out"]]
    table = rows.merge(sums, on=["document", "section"], how="left")
    for column in ("judged", "holding", "cells"):
        table[column] = table[column].fillna(0).astype("Int64")
    return table[["document", "section", "statements", "judged", "holding", "cells", "left_out"]]


def _section_of_names(coverage: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the document's section for each section name in the ledger."""
    sections: dict[tuple[str, str], str] = {}
    for _, row in coverage.iterrows():
        for name in str(row["ledger_sections"]).split(" | ") if row["ledger_sections"] else []:
            key = (str(row["document"]), name)
            if key in sections:
                raise DataError(
                    f"claims_coverage: {row['document']}, {name} is in two rows, {sections[key]} and {row['section']}; "
                    "keep one"
                )
            sections[key] = str(row["section"])
    return sections
