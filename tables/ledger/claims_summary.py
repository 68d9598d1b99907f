"""Verdicts of the ledger by document, for statements and for cell checks."""

import pandas as pd

from boundpaper.tables import Column, Table

VERDICTS = ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable")
TITLES = {
    "holds": "holds",
    "holds after rounding": "after\nrounding",
    "not significant": "not\nsignificant",
    "not supported": "not\nsupported",
    "contradicted": "contradicted",
    "not testable": "not\ntestable",
}
NAMES = {"sources": "these together", "thesis": "this thesis", "all": "all"}  # in the order of the table's rows
KINDS = {"statement": "Statements", "cell check": "Cell checks"}


def table(ledger_counts: pd.DataFrame) -> Table:
    """Return one row per document and kind of claim, with sums."""
    counts = ledger_counts.pivot(index=["kind", "source", "total"], columns="verdict", values="count").reset_index()
    for verdict in VERDICTS:
        counts[verdict] = counts[verdict].fillna(0).astype(int) if verdict in counts.columns else 0
    has_thesis = counts["kind"].isin(counts.loc[counts["source"] == "thesis", "kind"])
    # without claims of the thesis, the row `sources` would repeat `all`
    counts = counts[(counts["source"] != "sources") | has_thesis].copy()
    counts["part"] = counts["kind"].map(KINDS)
    counts["name"] = [NAMES.get(source, f"document {source}") for source in counts["source"]]
    ranks = {name: rank for rank, name in enumerate(NAMES, start=1)}
    counts["order"] = [
        (list(KINDS).index(kind), ranks.get(name, 0), name) for kind, name in counts[["kind", "source"]].to_numpy()
    ]
    rows = counts.sort_values("order", ignore_index=True)
    rows = rows.assign(rule=rows["source"].isin(["sources", "all"]))
    total = rows[rows["source"] == "all"].set_index("kind")["total"]
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
            f"Verdicts of the ledger on {total['statement']:,} statements and {total['cell check']:,} cell checks, by "
            "the document that makes them. Unit: one claim. Counts do not compare across documents, which differ in "
            "length and kind."
        ),
        short="Verdicts by document",
        note=(
            "Cell checks compare a cell with what follows from other cells, in bulk; statements are sentences, each "
            "once; one that two documents make with the same numbers counts for the document that makes it in full."
        ),
    )
