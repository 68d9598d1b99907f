"""Helpers for the ledger's tables: which statements are printed, and their wording for readers."""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from boundpaper.store.paper_vocabulary import metric_names, vocabulary
from boundpaper.typeset.numbers import significant
from boundpaper.typeset.wording import readable_text

FAILED = ("contradicted", "not supported")
FAILURES: Mapping[str, str] = {
    "number": "A number that its own inputs do not give",
    "reading": "A sign, order, count or extreme that the numbers do not show",
    "control": "A comparison without its control, or of two sides that differ in more than is said",
    "unit": "Units that are dependent, too few, or not those of the sentence",
    "overreach": "A sentence that says more than its test or its range of data can show",
}
"""Kinds of failure in the order of their rows."""

SIGNS: Mapping[str, str] = {"contradicted": r"$\times$", "not supported": r"$\circ$"}
CLAIM = re.compile(r"(?<![\w/])(?:c\d{3}|thesis)_[\w.-]*\w")
UNROUNDED = re.compile(r"-?(?<!\d)\d++\.\d{4,}")
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")
UNIT = re.compile(r"\d\s*(?P<unit>%|×|x)$")


def failing(claims: pd.DataFrame, severity: str, names: Mapping[str, str], excluded: set[str]) -> pd.DataFrame:
    """Return the statements that are contradicted or not supported, by kind of failure.

    Parameters
    ----------
    claims : DataFrame
        The ledger.
    severity : str
        Severity of the statements to return.
    names : mapping of str to str
        Display names by key.
    excluded : set of str
        Claims already printed in another table of the ledger.

    Returns
    -------
    DataFrame
        Columns `part` (kind of failure), `place` (document and section), `statement`, `values`, `sign`, `reason`,
        `claim` and `entry`; sorted by kind, then by document.
    """
    is_listed = claims["kind"].eq("statement") & claims["source"].ne("thesis") & claims["severity"].eq(severity)
    rows = claims[is_listed & claims["verdict"].isin(FAILED) & ~claims["claim"].isin(excluded)].copy()
    sections = dict(zip(claims["claim"], claims["section"], strict=True))
    rows["values"] = [values(row) for _, row in rows.iterrows()]
    for field in ("statement", "values", "reason"):
        rows[field] = [
            readable_text(place_links(str(text), sections), names) if pd.notna(text) else "" for text in rows[field]
        ]
    rows["rank"] = [list(FAILURES).index(str(failure)) for failure in rows["failure"]]
    rows["part"] = [FAILURES[str(failure)] for failure in rows["failure"]]
    rows["place"] = [
        f"{source}, {_section_number(section)}" for source, section in zip(rows["source"], rows["section"], strict=True)
    ]
    rows["entry"] = "claim:" + rows["claim"].astype(str)
    rows["sign"] = rows["verdict"].map(dict(SIGNS))
    return rows.sort_values(["rank"], kind="stable", ignore_index=True)


def _section_number(section: str) -> str:
    """Return a section's number, `4.4` for `4.4 Key Findings and 4.6 Interpretation`, or else its title.

    A title loses a reference to a further section, figure or table.
    """
    numbered = re.match(r"\d+(?:\.\d+)*", section)
    return numbered[0] if numbered else re.split(r" and (?=\d|Figure|Table)", section)[0]


def display_names(models: pd.DataFrame, training_trajectory: pd.DataFrame) -> dict[str, str]:
    """Return display names by key: of models, of training checkpoints and of metrics."""
    names = dict(zip(models["model"], models["display_name"], strict=True))
    names |= dict(zip(training_trajectory["checkpoint"], training_trajectory["display_name"], strict=True))
    return names | metric_names(vocabulary())


def place_links(text: str, places: Mapping[str, str]) -> str:
    """Return `text` with names of claim functions replaced by the sections of their statements."""
    return CLAIM.sub(lambda match: f"what is judged at {places[match[0]]}" if match[0] in places else match[0], text)


def values(row: Mapping[str, Any] | pd.Series) -> str:
    """Return the printed and the recomputed value; "" if the only value is a number without a unit."""
    printed = str(row["reported"]) if pd.notna(row["reported"]) else ""
    result = measured_text(row["recomputed"], printed)
    if not printed and NUMBER.fullmatch(result):
        return ""
    return "; ".join(text for text in (printed, result) if text)


def measured_text(value: Any, printed: str) -> str:
    """Return the recomputed value with the document's unit: four digits beside a printed number, else three."""
    result = str(value) if pd.notna(value) else ""
    if UNROUNDED.fullmatch(result):
        result = significant(4 if printed else 3).show(float(result), "plain")
    unit = UNIT.search(printed)
    return result + unit["unit"].replace("x", "×") if unit and NUMBER.fullmatch(result) else result
