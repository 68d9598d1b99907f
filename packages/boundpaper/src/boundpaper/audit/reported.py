"""Check statistics in sentences: p-values and test statistics, estimates and intervals, percentages of counts."""

import math
import re
from collections.abc import Iterator

from boundpaper.audit import number
from boundpaper.audit.documents import ReadDocument, Sentence
from boundpaper.audit.finding import Finding, Level
from boundpaper.statistics.rounding import Interval, meets

_VALUE = r"[-\u2212\u2013]?(?:\d{1,7}(?:\.\d{1,8})?|\.\d{1,8})"
_P = (
    rf"\bp\s?(?P<sign>[=<>≤≥])\s?(?P<p>{number.POWER}|[-\u2212]?(?:\d{{1,3}}(?:\.\d{{1,12}})?|\.\d{{1,12}})(?:e[-\u2212]?\d{{1,3}})?"
    rf"(?:\s?[×x·]\s?{number.POWER})?)"
)
_DF = r"\d{1,7}(?:\.\d{1,4})?"
_TEST = re.compile(
    r"(?<![\w-])(?:(?P<test>t|F|r|χ²|χ2|χ\^2|X2|X²|chi2|chi-squared?)\s?"
    rf"\(\s?(?:df\s?=\s?)?(?P<df1>{_DF})(?:\s?,\s?(?:[Nn]\s?=\s?)?(?P<df2>{_DF}))?\s?\)|(?P<bare>[zZr]))"
    rf"\s?=\s?(?P<value>{_VALUE})(?(bare)\s?|[^;()=<>]{{0,10}}(?:[a-zηω²_ ]{{1,12}}=[^;()=<>]{{1,14}})?)[,;(]\s?"
    rf"(?:[nN]\s?=\s?(?P<n>\d{{1,6}})\s?[,;]\s?)?{_P}(?(bare)(?:\s?[,;(]\s?[nN]\s?=\s?(?P<n2>\d{{1,6}})(?![\d.]))?)"
)
_P_VALUE = re.compile(rf"(?<![\w-]){_P}(?!\d|\s?[x×*·]\s?10\b)")
_INTERVAL = re.compile(
    rf"(?<![\w.,/-])(?P<value>{_VALUE})(?P<unit>\s?[%x×])?\s?[,;(\[]\s?\(?(?P<share>9[059]|99\.9|80)\s?% "
    rf"(?:CI|confidence interval|credible interval)s?\s?[:=,]?\s?[\[(]?\s?(?P<low>{_VALUE})\s?[%x×]?\s?"
    rf"(?:,|\u2013|to|;)\s?(?P<high>{_VALUE})(?![\d.])"
)
_GRIM = re.compile(
    r"(?<![\w.,~≈<>-])(?P<percent>\d{1,2}(?:\.\d{1,3})?)\s?% of (?:the |all |our )?(?P<n>\d{1,3}) "
    "(?P<noun>participants|patients|subjects|students|respondents|samples|items|questions|heads|papers|cases|images|"
    "trials|users|tasks|examples|layers|people|documents|runs|problems|women|men|children|queries|annotators|"
    r"repositories|sentences|benchmarks|datasets|tests|files|experiments|adults|animals|studies|articles|teachers)\b"
)
_TAILS = {"z": ("ndtr", 0, 2), "Z": ("ndtr", 0, 2), "t": ("stdtr", 1, 2), "r": ("stdtr", 1, 2), "F": ("fdtrc", 2, 1)}
_ONE_SIDED = re.compile(r"\bone[- ](?:tailed|sided)|\bdirectional\b", re.IGNORECASE)
_OTHER_P = re.compile(
    r"(?i)\b(?:corrected|adjusted|bonferroni|holm|fdr|permutation|bootstrap\w*|exact|spearman|kendall|greenhouse|"
    r"huynh|partial|multilevel|clustered|simulat\w+)\b"
)
_HEDGED = re.compile(r"\b(?:about|around|roughly|approximately|nearly|almost|over|under|least|most|than)\s?$")


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield findings on the statistics in each sentence."""
    for sentence in document.sentences:
        text = sentence.text
        for match in _TEST.finditer(text) if "p" in text and not _OTHER_P.search(text) else ():
            yield from _wrong_p_values(sentence, match)
        for match in _P_VALUE.finditer(text):
            p = _interval(match["p"])
            if re.search(r"[.\u2212-]", match["p"]) and (p.low < p.high < 0 or (p.low > 1 and match["sign"] in "=>≥")):
                yield _finding(sentence, match, "0 to 1", "a probability lies between 0 and 1")
        for match in _INTERVAL.finditer(text):
            value, low, high = (_interval(match[name]) for name in ("value", "low", "high"))
            if re.search(r"\b[pnN]\s?[=<>]\s?$", text[: match.start()][-6:]):
                continue
            if low.middle > high.middle:
                yield _finding(sentence, match, "", "the lower end is above the upper end")
            elif not meets(value, Interval(low.low, high.high)) and not (match["unit"] and high.high <= 1):
                ends = f"{match['low']} to {match['high']}"
                yield _finding(sentence, match, ends, "the interval does not contain its estimate")
        for match in _GRIM.finditer(text):
            yield from _wrong_percent(sentence, match)


def _interval(text: str) -> Interval:
    """Return the rounding interval of a printed number, which may begin with a decimal point."""
    printed = number.of_cell(re.sub(r"^(-?)\.", r"\g<1>0.", text.replace("\u2212", "-").replace("\u2013", "-")))
    return printed.interval if printed else Interval(math.inf, math.inf)


def _finding(sentence: Sentence, match: re.Match[str], expected: str, reason: str, level: Level = "error") -> Finding:
    return Finding("statistic", level, sentence.place, match[0].strip(), reason, expected)


def _wrong_p_values(sentence: Sentence, match: re.Match[str]) -> Iterator[Finding]:
    """Yield a finding if a test's printed statistic cannot give its p-value, whatever digits were rounded away."""
    statistic, p, sign = _interval(match["value"]), _interval(match["p"]), match["sign"]
    test, n = match["test"] or match["bare"], match["n"] or match["n2"]
    df1, df2 = float(match["df1"] or (n and int(n) - 2) or 0), float(match["df2"] or 0)
    has_wrong_df = df1 <= 0 or (test == "F" and df2 <= 0) or (test == "t" and df2 > 0)
    if (has_wrong_df and test not in "zZ") or math.isinf(p.low) or math.isinf(statistic.low):
        return
    if test == "r" and max(-statistic.high, statistic.low) > 1:
        yield _finding(sentence, match, "at most 1 in size", "a correlation lies between -1 and 1")
        return
    sizes = [max(-statistic.low, statistic.high), max(statistic.low, -statistic.high, 0.0)]
    if test == "r":
        sizes = [size * math.sqrt(df1 / max(1e-300, 1 - min(size, 1) ** 2)) for size in sizes]
    from scipy import special  # loaded here, since most documents have no test

    function, n_df, n_tails = _TAILS.get(test, ("chdtrc", 1, 1))  # scipy has lower tails of z and t, else upper tails
    ends = [-size if n_tails == 2 else size for size in sizes]
    recomputed = Interval(*(n_tails * float(getattr(special, function)(*(df1, df2)[:n_df], end)) for end in ends))
    for p_interval in (recomputed, recomputed * 0.5) if _ONE_SIDED.search(sentence.text) else (recomputed,):
        if sign in "<≤":
            agrees = p_interval.low <= p.middle
        else:
            agrees = p_interval.high >= p.middle if sign in ">≥" else meets(p_interval, p)
        if agrees:
            return
    is_below = p.middle < 0.05 or (sign == "<" and p.middle <= 0.05)
    crosses = is_below != (recomputed.low < 0.05) and not recomputed.low < 0.05 < recomputed.high
    decision_changes = p.middle >= 0.05 > recomputed.high if sign in ">≥" else crosses
    reason = "recomputed from the statistic as printed" + ("; the decision at .05 changes" if decision_changes else "")
    expected = f"p from {recomputed.low:.2g} to {recomputed.high:.2g}"
    yield _finding(sentence, match, expected, reason, "error" if decision_changes else "warning")


def _wrong_percent(sentence: Sentence, match: re.Match[str]) -> Iterator[Finding]:
    """Yield a finding if no whole number out of the stated total gives the percentage (the GRIM test)."""
    n, percent, decimals = int(match["n"]), _interval(match["percent"]), len(match["percent"].partition(".")[2])
    low, high = percent.low * n / 100, percent.high * n / 100
    has_count = math.floor(high + 1e-9) >= math.ceil(low - 1e-9)
    if not has_count and 2 <= n < 100 * 10**decimals and not _HEDGED.search(sentence.text[: match.start()]):
        nearest = [100 * count / n for count in (math.floor(low), math.ceil(high))]
        shares = " or ".join(f"{share:.{max(1, decimals)}f} %" for share in nearest)
        reason = f"no whole number of {n} {match['noun']} is {match['percent']} % of them"
        yield _finding(sentence, match, shares, reason, "warning")
