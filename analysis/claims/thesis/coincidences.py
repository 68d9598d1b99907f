"""Claims of the thesis on numbers that a document prints for two quantities."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from boundpaper.claims import Verdict, claim, judge, untestable
from boundpaper.claims.words import listed
from boundpaper.statistics.rounding import Interval, difference, meets, printed_interval, ratio

RELATION_WORDS = {"difference": "minus", "ratio": "over"}


@claim("thesis, Methods", severity="detail")
def thesis_numbers_told_apart(repeated_numbers: pd.DataFrame, number_coincidences: pd.DataFrame) -> Iterator[Verdict]:
    """If a document prints a number of four or more digits for two quantities, one quantity determines the other."""
    explained: Any = number_coincidences.set_index(["document", "number"])
    named_numbers = repeated_numbers.assign(quantity=repeated_numbers["quantity"].replace("", "a quantity not named"))
    for (document, number), cells in named_numbers.groupby(["document", "number"], sort=False):
        quantities = list(dict.fromkeys(cells["quantity"]))
        if len(quantities) < 2 and "a quantity not named" not in quantities:
            continue
        key = f"{document}_{number}"
        statement = (
            f"Document {document} prints {number} for more than one quantity, and one quantity determines the other."
        )
        where_printed = f"{number} is printed as {listed(quantities)}"
        is_explained = (document, number) in explained.index
        if not is_explained:
            yield judge(
                is_explained,
                f"{where_printed}; nothing says why, and one may be a copy of the other",
                otherwise="not supported",
                recomputed=f"{len(quantities)} quantities",
                n=len(cells),
                key=key,
                statement=statement,
            )
            continue
        explanation = explained.loc[(document, number)]
        if explanation["relation"] == "undecided":
            reason = str(explanation["reason"]).partition(": ")[2]
            yield untestable(f"{where_printed}: {reason}", key=key, statement=statement)
            continue
        interval, operand = _rounding_interval(str(number)), _rounding_interval(str(explanation["operand"]))
        combine = difference if explanation["relation"] == "difference" else ratio
        expected = combine(interval, operand)
        yield judge(
            meets(expected, interval),
            f"{where_printed}: {number} {RELATION_WORDS[str(explanation['relation'])]} {explanation['operand']}, "
            f"within rounding, is {expected.low:.6g} to {expected.high:.6g}",
            recomputed=f"{expected.low:.6g} to {expected.high:.6g}",
            n=len(cells),
            key=key,
            statement=statement,
        )


def _rounding_interval(number: str) -> Interval:
    return printed_interval(float(number), len(number.partition(".")[2]))
