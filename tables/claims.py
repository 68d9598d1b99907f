"""The ledger: every statement with its verdict and reason, and cell checks summed by table."""

import pandas as pd

from tables import Column, Table


def table(claims: pd.DataFrame, claims_cells: pd.DataFrame) -> Table:
    """Return the table."""
    statements = claims[claims["kind"] == "statement"]
    cells = pd.DataFrame(
        {
            "source": claims_cells["source"],
            "section": claims_cells["section"],
            "statement": [_cells(row) for _, row in claims_cells.iterrows()],
            "reported": "",
            "recomputed": [f"{row['cells'] - row['failing']} of {row['cells']}" for _, row in claims_cells.iterrows()],
            "verdict": [_verdict(row) for _, row in claims_cells.iterrows()],
            "reason": [_reason(row) for _, row in claims_cells.iterrows()],
        }
    )
    rows = pd.concat([statements, cells], ignore_index=True)
    places = pd.concat([claims[["source", "section"]], claims_cells[["source", "section"]]]).drop_duplicates()
    order = {
        tuple(pair): rank
        for rank, pair in enumerate(places.sort_values("source", kind="stable").itertuples(index=False, name=None))
    }
    rows["order"] = [order[pair] for pair in zip(rows["source"], rows["section"], strict=True)]
    rows["part"] = [
        f"{'This thesis' if source == 'thesis' else f'Source {source}'}, {section}"
        for source, section in zip(rows["source"], rows["section"], strict=True)
    ]
    rows = rows.sort_values("order", kind="stable", ignore_index=True)
    return Table(
        rows=rows,
        columns=[
            Column("statement", "Statement", width=0.26),
            Column("reported", "Reported", width=0.09, blank=True),
            Column("recomputed", "Recomputed", width=0.1, blank=True),
            Column("verdict", "Verdict", width=0.1),
            Column("reason", "Reason", width=0.39),
        ],
        groups="part",
        long=True,
        landscape=True,
        size="scriptsize",
        caption=(
            f"The ledger: {len(statements)} statements with verdict and reason, and "
            f"{int(claims_cells['cells'].sum())} cell checks summed into {len(claims_cells)} rows, by document and "
            "section. Unit: one claim."
        ),
        short="The claims ledger",
    )


def _cells(row: pd.Series) -> str:
    return f"Cell checks, {str(row['check']).partition('_')[2].replace('_', ' ')}: {row['cells']} cells."


def _verdict(row: pd.Series) -> str:
    if row["failing"] == row["cells"]:
        return "do not hold"
    if row["failing"]:
        return "hold in part"
    return "hold after rounding" if row["after_rounding"] == row["cells"] else "hold"


def _reason(row: pd.Series) -> str:
    parts = [f"{row['holds']} hold"]
    parts += [f"{row['after_rounding']} hold after rounding"] if row["after_rounding"] else []
    parts += [f"{row['failing']} do not: {row['exceptions']}"] if row["failing"] else []
    return "; ".join(parts) + "."
