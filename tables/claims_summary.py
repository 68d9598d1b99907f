"""Verdicts of the ledger by source document, statements and cell checks apart."""

import pandas as pd

from tables import Column, Table

VERDICTS = ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable")
TITLES = {
    "holds": "holds",
    "holds after rounding": "after\nrounding",
    "not significant": "not\nsignificant",
    "not supported": "not\nsupported",
    "contradicted": "contradicted",
    "not testable": "not\ntestable",
}
KINDS = {"statement": "Statements", "cell check": "Cell checks"}


def table(ledger_counts: pd.DataFrame) -> Table:
    """Return the table."""
    counts = ledger_counts.pivot(index=["kind", "source", "total"], columns="verdict", values="count").reset_index()
    for verdict in VERDICTS:
        counts[verdict] = counts[verdict].fillna(0).astype(int) if verdict in counts.columns else 0
    counts["part"] = counts["kind"].map(KINDS)
    counts["name"] = ["all" if each == "all" else _name(each) for each in counts["source"]]
    counts["order"] = [
        (list(KINDS).index(kind), each == "all", each) for kind, each in counts[["kind", "source"]].to_numpy()
    ]
    rows = counts.sort_values("order", ignore_index=True)
    rows = rows.assign(rule=rows["source"] == "all")
    both = rows[rows["source"] == "all"].set_index("kind")["total"]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Made by"),
            Column("total", "Claims"),
            *(Column(verdict, TITLES[verdict], group="Verdict") for verdict in VERDICTS),
        ],
        groups="part",
        rule_before="rule",
        space=0,
        caption=(
            f"Verdicts of the ledger on {both['statement']} statements and {both['cell check']} cell checks, by the "
            "document that makes them. Unit: one claim. Counts are not comparable across documents, since they "
            "differ in length and kind."
        ),
        short="Verdicts by source document",
        note=(
            "Cell checks compare a cell with what follows from other cells, in bulk; statements are sentences, each "
            "once; one that two documents make with the same numbers counts for the one that makes it in full."
        ),
    )


def _name(source: str) -> str:
    return "this thesis" if source == "thesis" else f"source {source}"
