"""Effects: judge from an interval that something differs, or that nothing does."""

from boundpaper.claims.verdict import ALPHA, Verdict
from boundpaper.claims.words import number_text


def directed(
    estimate: float,
    ci: tuple[float, float],
    sign: int,
    reason: str,
    *,
    null: float = 0.0,
    p_value: float | None = None,
    p_adjusted: float | None = None,
    failure: str = "",
    reported: str = "",
    recomputed: str | float = "",
    n: int | None = None,
    key: str = "",
    statement: str = "",
) -> Verdict:
    """Judge a statement that an effect exists, from its interval.

    It holds where the interval lies on the asserted side of no effect and p (the corrected one where there is a family)
    is below `ALPHA`; it is contradicted where the interval lies on the other side; it is not significant where the
    interval includes no effect and the estimate has the asserted sign. Elsewhere it is not supported: the estimate has
    the other sign, or the interval shows the effect and the corrected test does not.

    Parameters
    ----------
    estimate : float
        The effect.
    ci : pair of float
        Its interval at 1 - `ALPHA`, in the same unit.
    sign : int
        What is asserted: 1 above `null`, -1 below it, 0 a difference of either sign.
    reason : str
        What was computed; what the interval and the correction say of it is added where it is not plain.
    null : float
        No effect.
    p_value, p_adjusted : float or None
        p of the test by itself, and corrected for its family.
    failure : str
        Which of `FAILURES` it is when the statement does not hold.
    reported, recomputed : str
        What the source prints, and what the artifacts give; a number is given four decimals.
    n : int or None
        Units behind the estimate.
    key, statement : str
        Of the row of the ledger, where a claim gives several.

    Examples
    --------
    >>> from boundpaper.claims import directed
    >>> directed(2.1, (0.4, 3.8), 1, "Beans in the sun grow faster.", p_value=0.02).verdict
    'holds'
    >>> directed(0.3, (-0.4, 1.0), 1, "Beans in the sun grow faster.").verdict
    'not significant'
    """
    low, high = ci
    side = sign or (1 if estimate >= null else -1)
    beyond = low > null if side > 0 else high < null
    against = bool(sign) and (high < null if side > 0 else low > null)
    agrees = not sign or sign * (estimate - null) > 0
    deciding = p_adjusted if p_adjusted is not None else p_value
    shown = deciding is None or deciding < ALPHA
    end = "" if reason.rstrip().endswith((".", "?", "!")) else "."
    if beyond and agrees:
        verdict, more = ("holds", "") if shown else ("not supported", " The interval stands for this test alone.")
        if not shown and p_adjusted is None:
            more = " The interval and the test disagree."
    elif against:
        verdict, more = "contradicted", " The interval lies on the other side."
    elif agrees:
        verdict, more = "not significant", ""
    else:
        sign_said = "There is no difference" if estimate == null else "The sign is the other one"
        verdict, more = "not supported", f" {sign_said}, and the interval allows both."
    return Verdict(
        verdict=verdict,
        reason=f"{reason}{end}{more}",
        reported=reported,
        recomputed=recomputed if isinstance(recomputed, str) else number_text(recomputed, 4),
        n=n,
        ci_low=low,
        ci_high=high,
        p_value=p_value,
        p_adjusted=p_adjusted,
        key=key,
        statement=statement,
        failure="" if verdict == "holds" else failure,
        estimate=estimate,
        sign=sign,
        null=null,
    )


def equivalent(
    ci: tuple[float, float],
    margin: float,
    reason: str,
    *,
    null: float = 0.0,
    p_value: float | None = None,
    p_adjusted: float | None = None,
    reported: str = "",
    recomputed: str | float = "",
    n: int | None = None,
    key: str = "",
    statement: str = "",
) -> Verdict:
    """Judge a statement that nothing differs (preserved, unchanged, identical), from an interval.

    It holds where the whole interval lies within `margin` of no difference, is contradicted where all of it lies
    beyond, and is not supported where a larger difference is left open: no significant difference is not no difference.

    Parameters
    ----------
    ci : pair of float
        Interval of the difference.
    margin : float
        The largest difference that counts as none, in the unit of the interval.
    reason : str
        What was computed; the margin is added.
    null : float
        No difference.
    p_value, p_adjusted : float or None
        p of a test by itself, and corrected for its family.
    reported, recomputed : str
        What the source prints, and what the artifacts give; a number is given four decimals.
    n : int or None
        Units behind the estimate.
    key, statement : str
        Of the row of the ledger, where a claim gives several.

    Examples
    --------
    >>> from boundpaper.claims import equivalent
    >>> equivalent((-0.2, 0.3), 0.5, "Both lamps give beans of one height.").verdict
    'holds'
    """
    low, high = ci
    inside = max(abs(low - null), abs(high - null)) <= margin
    outside = low > null + margin or high < null - margin
    end = "" if reason.rstrip().endswith((".", "?", "!")) else "."
    word = "lies within" if inside else "lies beyond" if outside else "leaves more open than"
    return Verdict(
        verdict="holds" if inside else "contradicted" if outside else "not supported",
        reason=f"{reason}{end} The interval {word} {margin:g}, the margin for no difference.",
        reported=reported,
        recomputed=recomputed if isinstance(recomputed, str) else number_text(recomputed, 4),
        n=n,
        ci_low=low,
        ci_high=high,
        p_value=p_value,
        p_adjusted=p_adjusted,
        key=key,
        statement=statement,
        null=null,
        margin=margin,
    )
