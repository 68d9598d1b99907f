"""The ledger: every statement with its verdict and reason, and cell checks summed by table."""

import pandas as pd

from tables import Column, Table


def table(claims: pd.DataFrame, claims_cells: pd.DataFrame, claims_coverage: pd.DataFrame) -> Table:
    """Return the table."""
    statements = claims[claims["kind"] == "statement"]
    cells = pd.DataFrame(
        {
            "source": claims_cells["source"],
            "section": claims_cells["section"],
            "statement": [_cells(row) for _, row in claims_cells.iterrows()],
            "values": [f"{row['cells'] - row['failing']} of {row['cells']}" for _, row in claims_cells.iterrows()],
            "verdict": [_verdict(row) for _, row in claims_cells.iterrows()],
            "reason": [_reason(row) for _, row in claims_cells.iterrows()],
        }
    )
    rows = pd.concat([statements.assign(values=[_values(row) for _, row in statements.iterrows()]), cells])
    order = _order(claims, claims_coverage)
    rows["order"] = [order[pair] for pair in zip(rows["source"], rows["section"], strict=True)]
    rows["part"] = [
        f"{'This thesis' if source == 'thesis' else source}, {section}"
        for source, section in zip(rows["source"], rows["section"], strict=True)
    ]
    rows = rows.sort_values("order", kind="stable", ignore_index=True)
    return Table(
        rows=rows,
        columns=[
            Column("statement", "Statement", width=0.285),
            Column("values", "Printed;\nfound", width=0.13, blank=True),
            Column("verdict", "Verdict", width=0.115),
            Column("reason", "Reason", width=0.47, repeat=False),
        ],
        groups="part",
        long=True,
        size="scriptsize",
        column_space=2.5,
        caption=(
            f"The ledger: {len(statements)} statements with verdict and reason, and "
            f"{int(claims_cells['cells'].sum())} cell checks summed into {len(claims_cells)} rows, by document and "
            "section. The second column has the value as printed and, after the semicolon, the one that follows from "
            "the artifacts, or how many cells hold. A blank reason is the one above it. Unit: one claim."
        ),
        short="The claims ledger",
    )


def _order(claims: pd.DataFrame, coverage: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Rank of each section of the ledger: as in the documents, then those of the thesis."""
    listed = [
        (str(row["document"]), name)
        for _, row in coverage.iterrows()
        for name in str(row["ledger_sections"]).split(" | ")
    ]
    places = claims[["source", "section"]].drop_duplicates().itertuples(index=False, name=None)
    return {pair: rank for rank, pair in enumerate(dict.fromkeys([*listed, *places]))}


def _values(row: pd.Series) -> str:
    return "; ".join(each for each in (str(row["reported"]), str(row["recomputed"])) if each)


def _cells(row: pd.Series) -> str:
    return f"Cells: {str(row['check']).partition('_')[2].replace('_', ' ')}."


def _verdict(row: pd.Series) -> str:
    if row["failing"] == row["cells"]:
        return "do not hold"
    if row["failing"]:
        return "hold in part"
    return "hold after rounding" if row["after_rounding"] == row["cells"] else "hold"


def _reason(row: pd.Series) -> str:
    if not row["failing"]:
        return f"{row['after_rounding']} of them after rounding." if row["after_rounding"] else "Each one holds."
    rounded = f", {row['after_rounding']} after rounding" if row["after_rounding"] else ""
    return f"{row['holds'] + row['after_rounding']} hold{rounded}; {row['failing']} do not: {row['exceptions']}."
