"""Compare what several sections of a document state about one subject: do they agree?"""

import pandas as pd

from boundpaper.claims.verdict import GOOD
from boundpaper.errors import DataError


def worded_conflicts(said_twice: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Return one row per document and subject stated more than once: the statements, their number, and the verdicts.

    `conflict` is true if the statements differ in their value. The ledger must then reject one of them; `unjudged` is
    true if it rejects none. Raises DataError if a row names a claim that the ledger lacks, or a subject has only one
    row.
    """
    functions = claims.assign(function=claims["claim"].astype(str).str.partition(".")[0])
    rows = []
    for (document, about), statements in said_twice.groupby(["document", "about"], sort=False):
        if len(statements) < 2:
            raise DataError(f"said_twice, {document}: {about!r} has one row; add a second statement")
        verdicts = []
        for name in statements["claims"]:
            claim_verdicts = functions.loc[functions["function"] == name, "verdict"].astype(str)
            if claim_verdicts.empty:
                raise DataError(f"said_twice, {document}, {about}: no claim {name!r} in the ledger; fix the name")
            verdicts.append(set(claim_verdicts))
        conflict = statements["word"].nunique() > 1
        wordings = "; ".join(f"{statement.place}: {statement.says}" for statement in statements.itertuples(index=False))
        verdict_text = "; ".join(", ".join(sorted(claim_verdicts)) for claim_verdicts in verdicts)
        all_hold = all(verdict in GOOD for claim_verdicts in verdicts for verdict in claim_verdicts)
        row = {
            "document": document,
            "about": about,
            "said": wordings,
            "statements": len(statements),
            "verdicts": verdict_text,
        }
        rows.append(row | {"conflict": conflict, "unjudged": conflict and all_hold})
    return pd.DataFrame(rows)
