"""Judge by an interval whether an effect exists, or whether nothing differs by more than a margin."""

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
    """Return the verdict on a statement that an effect exists, judged by the effect's interval.

    `holds`: the interval is on the asserted side of `null`, and the p-value (the corrected p-value, if given) is below
    `ALPHA`. `contradicted`: the interval is on the other side. `not significant`: the interval includes `null`, and the
    estimate has the asserted sign. `not supported`: the interval includes `null`, and the estimate has the other sign;
    or the interval is on the asserted side, but the p-value is not below `ALPHA`.

    Parameters
    ----------
    estimate : float
        The effect.
    ci : pair of float
        Confidence interval of the effect at 1 - `ALPHA`, in the same unit.
    sign : int
        The asserted sign: 1 for above `null`, -1 for below `null`, 0 for either side.
    reason : str
        What was computed; a remark on the interval is added if the verdict needs it.
    null : float
        The value that means no effect.
    p_value, p_adjusted : float or None
        p-value of the test, and p-value corrected for its family of tests.
    failure : str
        The kind of failure, one of `FAILURES`, if the statement does not hold.
    reported, recomputed : str
        The value in the source, and the value from the artifacts; numbers are printed with four decimals.
    n : int or None
        Number of units behind the estimate.
    key, statement : str
        Key and statement of the ledger row, if a claim has several rows.

    Examples
    --------
    >>> from boundpaper.claims import directed
    >>> directed(2.1, (0.4, 3.8), 1, "Beans in the sun grow faster.", p_value=0.02).verdict
    'holds'
    >>> directed(0.3, (-0.4, 1.0), 1, "Beans in the sun grow faster.").verdict
    'not significant'
    """
    low, high = ci
    expected_sign = sign or (1 if estimate >= null else -1)
    interval_agrees = low > null if expected_sign > 0 else high < null
    interval_opposes = bool(sign) and (high < null if expected_sign > 0 else low > null)
    estimate_agrees = not sign or sign * (estimate - null) > 0
    deciding_p = p_adjusted if p_adjusted is not None else p_value
    is_significant = deciding_p is None or deciding_p < ALPHA
    end = "" if reason.rstrip().endswith((".", "?", "!")) else "."
    if interval_agrees and estimate_agrees:
        verdict, remark = "holds", ""
        if not is_significant:
            verdict, remark = "not supported", " The interval stands for this test alone."
            if p_adjusted is None:
                remark = " The interval and the test disagree."
    elif interval_opposes:
        verdict, remark = "contradicted", " The interval lies on the other side."
    elif estimate_agrees:
        verdict, remark = "not significant", ""
    else:
        finding = "There is no difference" if estimate == null else "The sign is the other one"
        verdict, remark = "not supported", f" {finding}, and the interval allows both."
    return Verdict(
        verdict=verdict,
        reason=f"{reason}{end}{remark}",
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
    """Return the verdict on a statement that nothing differs (preserved, unchanged, identical), judged by an interval.

    `holds`: the whole interval is within `margin` of `null`. `contradicted`: the whole interval is beyond the margin.
    `not supported`: the interval includes differences within and beyond the margin.

    Parameters
    ----------
    ci : pair of float
        Interval of the difference.
    margin : float
        The largest difference that counts as no difference, in the unit of the interval.
    reason : str
        What was computed; a sentence on the margin is added.
    null : float
        The value that means no difference.
    p_value, p_adjusted : float or None
        p-value of a test, and p-value corrected for its family of tests.
    reported, recomputed : str
        The value in the source, and the value from the artifacts; numbers are printed with four decimals.
    n : int or None
        Number of units behind the estimate.
    key, statement : str
        Key and statement of the ledger row, if a claim has several rows.

    Examples
    --------
    >>> from boundpaper.claims import equivalent
    >>> equivalent((-0.2, 0.3), 0.5, "Both lamps give beans of one height.").verdict
    'holds'
    """
    low, high = ci
    if max(abs(low - null), abs(high - null)) <= margin:
        verdict, relation = "holds", "lies within"
    elif low > null + margin or high < null - margin:
        verdict, relation = "contradicted", "lies beyond"
    else:
        verdict, relation = "not supported", "leaves more open than"
    end = "" if reason.rstrip().endswith((".", "?", "!")) else "."
    return Verdict(
        verdict=verdict,
        reason=f"{reason}{end} The interval {relation} {margin:g}, the margin for no difference.",
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
