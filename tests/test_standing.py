"""Standing of results (planned, post hoc and others): each claim belongs to exactly one row of the table."""

import pandas as pd
import pytest

from analysis.studies.ledger.standing import standing_counts
from boundpaper.errors import DataError
from boundpaper.store.reader import read
from conftest import ROOT

ROWS = pd.DataFrame(
    {
        "results": ["thesis_a_* thesis_b", "c00*"],
        "part": ["population", "other chapters"],
        "what": ["ours", "theirs"],
        "standing": ["post hoc", "asked by the documents"],
        "decided": ["late", "early"],
    }
)


def ledger(*claims):
    return pd.DataFrame(claims, columns=["claim", "verdict"])


def test_verdicts_are_counted_by_row():
    table = standing_counts(
        ROWS,
        ledger(
            ("thesis_a_one.key", "holds"),
            ("thesis_b", "not testable"),
            ("c001_x", "contradicted"),
            ("c002_y.z", "holds after rounding"),
        ),
    )
    assert table[["claims", "hold", "contradicted", "undecided"]].to_numpy().tolist() == [[2, 1, 0, 1], [2, 1, 1, 0]]


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([("thesis_new", "holds"), ("thesis_b", "holds"), ("c001", "holds")], "no row for claim thesis_new"),
        ([("c001_x", "holds")], "no claim of the ledger matches 'ours'"),
        ([("thesis_a_b", "holds"), ("thesis_b.thesis_a_x", "holds")], "no claim of the ledger matches 'theirs'"),
    ],
)
def test_claim_without_a_row_or_with_two_rows_is_refused(claims, message):
    with pytest.raises(DataError, match=message):
        standing_counts(ROWS, ledger(*claims))
    repeated = pd.concat([ROWS, ROWS.iloc[:1].assign(what="again")], ignore_index=True)
    with pytest.raises(DataError, match="2 rows for claim thesis_b"):
        standing_counts(repeated, ledger(("thesis_b", "holds")))


def test_planned_rows_are_those_of_plan_and_amendment():
    rows = read(ROOT, "standing").set_index("what")["standing"]
    assert (rows == "planned").sum() == 1
    assert rows.str.endswith("in the amendment").sum() == 2
    counts = read(ROOT, "standing_counts")
    assert counts["claims"].sum() == len(read(ROOT, "claims"))
