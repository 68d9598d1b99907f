"""Compare a document's statements about one thing in several sections: do they agree?"""

import pandas as pd

from boundpaper.errors import DataError

SOUND = ("holds", "holds after rounding")


def worded_conflicts(said_twice: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Return one row per document and repeatedly stated thing: the number of different values, and the verdicts.

    `conflict` is true if there is more than one value. Contradictory statements cannot all hold, so the ledger must
    reject one: `unjudged` is true if all of them hold there. Raises DataError if a row names a claim that the ledger
    lacks, or a thing has only one row.
    """
    functions = claims.assign(function=claims["claim"].astype(str).str.partition(".")[0])
    rows = []
    for (document, about), part in said_twice.groupby(["document", "about"], sort=False):
        if len(part) < 2:
            raise DataError(f"said_twice, {document}: {about!r} has one row; a second statement is missing")
        verdicts = []
        for name in part["claims"]:
            found = functions.loc[functions["function"] == name, "verdict"].astype(str)
            if found.empty:
                raise DataError(f"said_twice, {document}, {about}: no claim {name!r} in the ledger; mend its name")
            verdicts.append(set(found))
        conflict = part["word"].nunique() > 1
        statements = "; ".join(f"{row.place}: {row.says}" for row in part.itertuples(index=False))
        shown = "; ".join(", ".join(sorted(each)) for each in verdicts)
        sound = all(verdict in SOUND for each in verdicts for verdict in each)
        group = {"document": document, "about": about, "said": statements, "statements": len(part), "verdicts": shown}
        rows.append(group | {"conflict": conflict, "unjudged": conflict and sound})
    return pd.DataFrame(rows)
