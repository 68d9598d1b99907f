"""Define `Estimate`, the row that every test returns, and the table of such rows."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import SupportsFloat

import pandas as pd

SEPARATOR = "; "
NUMBERS = tuple("estimate ci_low ci_high statistic df p_value p_adjusted effect effect_ci_low effect_ci_high".split())
EXPLAINED_NUMBERS = tuple(name for name in NUMBERS if name != "p_adjusted")
"""Numbers that need a note if they are empty; for an empty `p_adjusted`, `adjustment` = "none" is the reason."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A test or interval, as a row of a tidy table.

    A number that is undefined is None, never NaN or infinite, and `note` says why.

    Parameters
    ----------
    study, comparison, test : str
        The result that the row belongs to, the comparison, and the method (`paired_t`, `pearson`, ...).
    unit : str
        The replication unit: model, layer, head, text, seed or item.
    n : int
        The number of units; for two independent groups their sum.
    estimate, ci_low, ci_high : float or None
        The estimated quantity with its interval (95 % unless `note` says otherwise).
    statistic, df, p_value : float or None
        The test statistic, its degrees of freedom and p; `p_value` is two-sided unless `note` says otherwise.
    p_adjusted : float or None
        `p_value` after the correction that `adjustment` names.
    adjustment : str
        The correction with its family, or "none".
    effect_name : str
        Name of the effect size (`d_z`, `d_s`, `hedges_g`, `r`, `odds_ratio`, ...); empty without an effect size.
    effect, effect_ci_low, effect_ci_high : float or None
        The effect size with its interval.
    note : str
        Method, raised guards and reasons for empty fields, separated by "; ".

    Raises
    ------
    ValueError
        If a number is not finite, a p is outside [0, 1], an interval is reversed, a name is empty, or a field is
        empty without any note.

    Examples
    --------
    >>> from boundpaper.statistics import Estimate
    >>> row = Estimate(study="beans", comparison="sun", test="mean", unit="plant", n=8, estimate=18.4, note="mean only")
    >>> row.estimate, row.p_value
    (18.4, None)
    """

    study: str
    comparison: str
    test: str
    unit: str
    n: int
    estimate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    adjustment: str = "none"
    effect_name: str = ""
    effect: float | None = None
    effect_ci_low: float | None = None
    effect_ci_high: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        row_name = f"estimate {self.study}/{self.comparison}/{self.test}"
        for name in ("study", "comparison", "test", "unit"):
            if not getattr(self, name):
                raise ValueError(f"{row_name}: {name} is empty; name it where the test is called")
        if self.n < 0:
            raise ValueError(f"{row_name}: n is {self.n}; give the number of units")
        object.__setattr__(self, "n", int(self.n))
        for name in NUMBERS:
            value = getattr(self, name)
            if value is None:
                continue
            # a plain float, since YAML and JSON cannot represent numpy scalars
            object.__setattr__(self, name, float(value))
            if not math.isfinite(value):
                raise ValueError(f"{row_name}: {name} is {value}; pass None and say why in note")
        for name in ("p_value", "p_adjusted"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{row_name}: {name} is {value}; a p must be between 0 and 1")
        for low, high in (("ci_low", "ci_high"), ("effect_ci_low", "effect_ci_high")):
            ends = getattr(self, low), getattr(self, high)
            if None not in ends and ends[0] > ends[1]:
                raise ValueError(f"{row_name}: {low} {ends[0]} is above {high} {ends[1]}; swap them")
        empty_fields = [name for name in EXPLAINED_NUMBERS if getattr(self, name) is None]
        if empty_fields and not self.note:
            raise ValueError(f"{row_name}: {', '.join(empty_fields)} empty without a reason; say why in note")


COLUMNS = tuple(field.name for field in fields(Estimate))


def finite(value: SupportsFloat | None) -> float | None:
    """Return `value` as a float, or None if it is None, NaN or infinite.

    Parameters
    ----------
    value : number or None
        Anything that `float` takes.

    Examples
    --------
    >>> from boundpaper.statistics import finite
    >>> finite(2), finite(float("nan"))
    (2.0, None)
    """
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def join_notes(*notes: str) -> str:
    """Return notes joined with "; ", without empty or repeated sentences, in order of first appearance."""
    sentences = (sentence.strip() for note in notes for sentence in note.split(SEPARATOR.strip()))
    return SEPARATOR.join(dict.fromkeys(filter(None, sentences)))


def no(*what: str, because: str) -> str:
    """Return the note on empty fields: `no("df", because="p by permutation")` is "no df: p by permutation".

    Parameters
    ----------
    what : str
        Names of the empty fields.
    because : str
        Why they are empty.

    Examples
    --------
    >>> from boundpaper.statistics import no
    >>> no("df", "statistic", because="p by permutation")
    'no df, statistic: p by permutation'
    """
    return f"no {', '.join(what)}: {because}"


def one_sided_note(alternative: str) -> list[str]:
    """Return a list with the note that a p-value is one-sided, or an empty list if the p-value is two-sided."""
    return [] if alternative == "two-sided" else [f"one-sided p, the alternative is {alternative} than zero"]


def with_note(estimate: Estimate, *notes: str) -> Estimate:
    """Return the estimate with further notes; existing notes are not repeated.

    Parameters
    ----------
    estimate : Estimate
        The estimate, which is not changed.
    notes : str
        The notes to add.

    Examples
    --------
    >>> from boundpaper.statistics import wilson, with_note
    >>> with_note(wilson(3, 8, study="beans", comparison="sprouted", unit="bean"), "of one bag").note[-10:]
    'of one bag'
    """
    return replace(estimate, note=join_notes(estimate.note, *notes))


def frame(estimates: Iterable[Estimate]) -> pd.DataFrame:
    """Return estimates as a tidy table.

    Parameters
    ----------
    estimates : iterable of Estimate
        Rows, kept in order.

    Returns
    -------
    DataFrame
        One row per estimate with the columns of `COLUMNS`; numbers are float64 and missing where undefined, `n` is
        int64, the rest is text.

    Raises
    ------
    ValueError
        If an element is not an Estimate, for example a tuple that a test returned and that was not unpacked.

    Examples
    --------
    >>> from boundpaper.statistics import frame, wilson
    >>> frame([wilson(3, 8, study="beans", comparison="sprouted", unit="bean")])["n"].tolist()
    [8]
    """
    rows = []
    for position, estimate in enumerate(estimates):
        if not isinstance(estimate, Estimate):
            raise ValueError(
                f"frame: item {position} is a {type(estimate).__name__}, not an Estimate; unpack it with *"
            )
        rows.append(asdict(estimate))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({**dict.fromkeys(NUMBERS, "float64"), "n": "int64"})
