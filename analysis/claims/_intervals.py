"""Judge the effect in a row of a table of tests by its confidence interval."""

from typing import Any

from boundpaper.claims import Verdict, directed


def by_interval(
    row: Any,
    sign: int,
    reason: str,
    *,
    of: tuple[str, str, str] = ("estimate", "ci_low", "ci_high"),
    p: tuple[str, ...] = (),
    n: str | int = "n",
    **named: Any,
) -> Verdict:
    """Return the verdict of `directed` on the effect in a row.

    `of` names the columns of the effect and of the ends of its interval, `p` those of the p-value and of the corrected
    one. `n` is a column or the number of units itself. The ledger shows the effect, unless `named`, the further
    arguments of `directed`, says otherwise.
    """
    value, low, high = (float(row[column]) for column in of)
    tests: dict[str, Any] = {
        name: float(row[column]) for name, column in zip(("p_value", "p_adjusted"), p, strict=False)
    }
    units = int(row[n]) if isinstance(n, str) else n
    return directed(value, (low, high), sign, reason, n=units, **tests, **{"recomputed": value, **named})
