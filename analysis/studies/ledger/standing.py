"""Count the ledger's verdicts by standing of the claims: planned, post hoc or exploratory."""

from fnmatch import fnmatchcase

import pandas as pd

from boundpaper.claims.verdict import GOOD
from boundpaper.errors import DataError

OPEN = ("not testable", "not significant", "not supported")


def standing_counts(standing: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Return one row per group of results: standing, time of decision, and counts of claims by verdict.

    Patterns of function names assign every claim to one row. Raises DataError if a claim matches no row or several,
    or a row matches no claim.
    """
    groups = [(name, str(patterns).split()) for name, patterns in standing["results"].items()]
    verdicts_of: dict[object, list[str]] = {name: [] for name, _ in groups}
    for claim, verdict in zip(claims["claim"].astype(str), claims["verdict"], strict=True):
        function = claim.partition(".")[0]
        names = [name for name, patterns in groups if any(fnmatchcase(function, pattern) for pattern in patterns)]
        if len(names) != 1:
            count = "no row" if not names else f"{len(names)} rows"
            raise DataError(
                f"standing: {count} for claim {claim}; name its function in the column `results` of one row, "
                "so that a reader knows whether it was planned"
            )
        verdicts_of[names[0]].append(str(verdict))
    unmatched = [
        str(what) for what, verdicts in zip(standing["what"], verdicts_of.values(), strict=True) if not verdicts
    ]
    if unmatched:
        raise DataError(f"standing: no claim of the ledger matches {unmatched[0]!r}; correct or remove its patterns")
    counts = [
        {
            "claims": len(verdicts),
            "hold": sum(verdict in GOOD for verdict in verdicts),
            "contradicted": verdicts.count("contradicted"),
            "undecided": sum(verdict in OPEN for verdict in verdicts),
        }
        for verdicts in verdicts_of.values()
    ]
    columns = standing[["part", "what", "standing", "decided"]].reset_index(drop=True)
    return pd.concat([columns, pd.DataFrame(counts)], axis=1)
