"""The ledger: every statement with its verdict and reason, and cell checks summed by table."""

import re
from collections.abc import Mapping

import pandas as pd

from artifacts.typeset.numbers import significant
from artifacts.typeset.wording import readable
from tables import Column, Table

SHOWN = 4
"""Cells named of those that do not hold."""
CLAIM = re.compile(r"(?<![\w/])(?:c\d{3}|thesis)_[\w.-]*\w")
BARE = re.compile(r"-?\d+\.\d{4,}")
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")
UNIT = re.compile(r"\d\s*(?P<unit>%|×|x)$")


def table(
    claims: pd.DataFrame,
    claims_cells: pd.DataFrame,
    claims_coverage: pd.DataFrame,
    models: pd.DataFrame,
    training_trajectory: pd.DataFrame,
) -> Table:
    """Return the table."""
    names = dict(zip(models["model"], models["display_name"], strict=True))
    names |= dict(zip(training_trajectory["checkpoint"], training_trajectory["display_name"], strict=True))
    statements = claims[claims["kind"] == "statement"]
    checked = claims[claims["kind"] == "cell check"]
    checks = {str(name): rows for name, rows in checked.groupby(checked["claim"].str.partition(".")[0], sort=False)}
    cells = pd.DataFrame(
        {
            "source": claims_cells["source"],
            "section": claims_cells["section"],
            "statement": [_cells(checks[row["check"]]) for _, row in claims_cells.iterrows()],
            "values": [f"{row['cells'] - row['failing']} of {row['cells']}" for _, row in claims_cells.iterrows()],
            "verdict": [_verdict(row) for _, row in claims_cells.iterrows()],
            "reason": [_reason(row, checks[row["check"]]) for _, row in claims_cells.iterrows()],
        }
    )
    rows = pd.concat([statements.assign(values=[_values(row) for _, row in statements.iterrows()]), cells])
    places = dict(zip(claims["claim"], claims["section"], strict=True))
    for field in ("statement", "values", "reason"):
        rows[field] = [readable(_placed(str(each), places), names) if pd.notna(each) else each for each in rows[field]]
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
        column_space=4,
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


def _placed(text: str, places: Mapping[str, str]) -> str:
    """Name statements by their section where a text names them by the function that judges them."""
    return CLAIM.sub(lambda match: f"what is judged at {places[match[0]]}" if match[0] in places else match[0], text)


def _values(row: pd.Series) -> str:
    """What is printed and what was found; a number alone, of which no unit is known, stands in the reason only."""
    printed = str(row["reported"]) if pd.notna(row["reported"]) else ""
    found = _found(row["recomputed"], printed)
    if not printed and NUMBER.fullmatch(found):
        return ""
    return "; ".join(each for each in (printed, found) if each)


def _found(value: str | float | None, printed: str) -> str:
    """What was found, with the unit of what is printed; many digits to three, or four beside a printed number."""
    found = str(value) if pd.notna(value) else ""
    if BARE.fullmatch(found):
        found = significant(4 if printed else 3).show(float(found), "plain")
    unit = UNIT.search(printed)
    return found + unit["unit"].replace("x", "×") if unit and NUMBER.fullmatch(found) else found


def _cells(checked: pd.DataFrame) -> str:
    """The first of the checked cells' statements, which stands for the others."""
    first, more = str(checked["statement"].iloc[0]), len(checked) - 1
    return f"{first} And {more} more cell{'s' * (more > 1)} of this kind." if more else first


def _verdict(row: pd.Series) -> str:
    if row["failing"] == row["cells"]:
        return "do not hold"
    if row["failing"]:
        return "hold in part"
    return "hold after rounding" if row["after_rounding"] == row["cells"] else "hold"


def _reason(row: pd.Series, checked: pd.DataFrame) -> str:
    if not row["failing"]:
        return f"{row['after_rounding']} of them after rounding." if row["after_rounding"] else "Each one holds."
    rounded = f", {row['after_rounding']} after rounding" if row["after_rounding"] else ""
    off = checked[~checked["verdict"].isin(["holds", "holds after rounding"])]
    told = [_exception(cell) for _, cell in off.head(SHOWN).iterrows()]
    told += [f"and {len(off) - SHOWN} more"] if len(off) > SHOWN else []
    verb = "does" if row["failing"] == 1 else "do"
    return f"{row['holds'] + row['after_rounding']} hold{rounded}; {row['failing']} {verb} not: {'; '.join(told)}."


def _exception(cell: pd.Series) -> str:
    """A cell that does not hold: its statement with the values, or with the reason where the values are alike."""
    statement = str(cell["statement"]).rstrip(".")
    if cell["reported"] == cell["recomputed"]:
        return f"{statement} ({str(cell['reason']).rstrip('.')})"
    return f"{statement} (printed {cell['reported']}, found {_found(cell['recomputed'], str(cell['reported']))})"
