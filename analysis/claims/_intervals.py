"""Judge the effect in a row of a table of tests by its confidence interval."""

from typing import Any

from boundpaper.claims import Verdict, directed


def by_interval(
    row: Any,
    sign: int,
    reason: str,
    *,
    columns: tuple[str, str, str] = ("estimate", "ci_low", "ci_high"),
    p: tuple[str, ...] = (),
    n: str | int = "n",
    **arguments: Any,
) -> Verdict:
    """Return the verdict of `directed` on the effect in a row.

    `columns` are those of the effect and of the two ends of its interval; `p` are those of the p-value and of the
    corrected p-value. `n` is a column or a number of units. `directed` receives the other `arguments`. Without
    `recomputed`, the ledger shows the effect.
    """
    effect, low, high = (float(row[column]) for column in columns)
    tests: dict[str, Any] = {
        name: float(row[column]) for name, column in zip(("p_value", "p_adjusted"), p, strict=False)
    }
    units = int(row[n]) if isinstance(n, str) else n
    return directed(effect, (low, high), sign, reason, n=units, **tests, **{"recomputed": effect, **arguments})
