"""Statistics as sentences report them: tests against their p, estimates against intervals, percentages of counts."""

import math
import re
from collections.abc import Callable, Iterator

from scipy import stats

from boundpaper.audit.documents import Document, Sentence
from boundpaper.audit.finding import Finding, Level
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, meets
from boundpaper.typeset.printed import parse

_VALUE = r"[-\u2212\u2013]?(?:\d{1,7}(?:\.\d{1,8})?|\.\d{1,8})"
_P = (
    r"\bp\s?(?P<sign>[=<>≤≥])\s?(?P<p>10[⁻⁺][⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[-\u2212]?(?:\d{1,3}(?:\.\d{1,12})?|\.\d{1,12})(?:e[-\u2212]?\d{1,3})?"
    r"(?:\s?[×x·]\s?10[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})?)"
)
_TEST = re.compile(
    r"(?<![\w-])(?P<test>t|F|r|χ²|χ2|χ\^2|X2|X²|chi2|chi-squared?)\s?"
    r"\(\s?(?:df\s?=\s?)?(?P<df1>\d{1,7}(?:\.\d{1,4})?)(?:\s?,\s?(?:[Nn]\s?=\s?)?(?P<df2>\d{1,7}(?:\.\d{1,4})?))?\s?\)"
    rf"\s?=\s?(?P<value>{_VALUE})(?P<between>[^;()=<>]{{0,10}}(?:[a-zηω²_ ]{{1,12}}=[^;()=<>]{{1,14}})?)[,;(]\s?{_P}"
)
_Z = re.compile(rf"(?<![\w-])(?P<test>[zZ])\s?=\s?(?P<value>{_VALUE})\s?[,;(]\s?{_P}")
_R = re.compile(
    rf"(?<![\w-])(?P<test>r)\s?=\s?(?P<value>{_VALUE})\s?[,;(]\s?(?:[nN]\s?=\s?(?P<n>\d{{1,6}})\s?[,;]\s?{_P}"
    rf"|{_P.replace('<sign>', '<sign2>').replace('<p>', '<p2>')}\s?[,;(]\s?[nN]\s?=\s?(?P<n2>\d{{1,6}})(?![\d.]))"
)
_ALONE = re.compile(rf"(?<![\w-]){_P}(?!\d)")
_INTERVAL = re.compile(
    rf"(?<![\w.,/-])(?P<value>{_VALUE})(?P<unit>\s?[%x×])?\s?[,;(\[]\s?\(?(?P<share>9[059]|99\.9|80)\s?% "
    rf"(?:CI|confidence interval|credible interval)s?\s?[:=,]?\s?[\[(]?\s?(?P<low>{_VALUE})\s?[%x×]?\s?"
    rf"(?:,|\u2013|to|;)\s?(?P<high>{_VALUE})(?![\d.])"
)
_GRIM = re.compile(
    r"(?<![\w.,~≈<>-])(?P<percent>\d{1,2}(?:\.\d{1,3})?)\s?% of (?:the |all |our )?(?P<n>\d{1,3}) (?P<noun>[a-z]+)\b"
)
_COUNTED_TEXT = (
    "participants patients subjects students respondents samples items questions heads papers cases images "
    "trials users tasks examples layers people documents runs problems women men children queries annotators "
    "repositories sentences benchmarks datasets tests files experiments adults animals mice studies articles teachers "
    "schools"
)
_COUNTED = frozenset(_COUNTED_TEXT.split())
_ONE_SIDED = re.compile(r"\bone[- ](?:tailed|sided)|\bdirectional\b", re.IGNORECASE)
_OTHER_P = re.compile(
    r"\b(?:corrected|adjusted|bonferroni|holm|fdr|permutation|bootstrap\w*|exact|spearman|kendall|greenhouse|"
    r"huynh|partial|multilevel|clustered|simulat\w+)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:about|around|roughly|approximately|nearly|almost|over|under|least|most|than)\s?$")


def check(document: Document) -> Iterator[Finding]:
    """Findings of each sentence."""
    for sentence in document.sentences:
        text = sentence.text
        if "p" in text and not _OTHER_P.search(text):
            for match in (match for pattern in (_TEST, _Z, _R) for match in pattern.finditer(text)):
                yield from _tested(sentence, match)
        for match in _ALONE.finditer(text):
            p = _read(match["p"])
            if re.search(r"[.\u2212-]", match["p"]) and (p.low < p.high < 0 or (p.low > 1 and match["sign"] in "=>≥")):
                yield _finding(sentence, match, "0 to 1", "a probability lies between 0 and 1")
        for match in _INTERVAL.finditer(text):
            value, low, high = (_read(match[name]) for name in ("value", "low", "high"))
            if not re.search(r"\b[pnN]\s?[=<>]\s?$", text[: match.start()][-6:]):
                if low.middle > high.middle:
                    yield _finding(sentence, match, "", "the ends of the interval run downwards")
                elif not meets(value, Interval(low.low, high.high)):
                    ends = f"{match['low']} to {match['high']}"
                    yield _finding(sentence, match, ends, "the interval does not hold its estimate")
        yield from _percentages(sentence)


def _read(text: str) -> Interval:
    """The numbers that are printed so; a point may begin them."""
    body = re.sub(r"^(-?)\.", r"\g<1>0.", text.replace("\u2212", "-").replace("\u2013", "-"))
    try:
        printed = parse(body)
    except DataError:
        return Interval(math.inf, math.inf)
    return Interval(printed.low, printed.high)


def _finding(sentence: Sentence, match: re.Match[str], expected: str, why: str, level: Level = "error") -> Finding:
    return Finding("statistic", level, sentence.place, match[0].strip(), expected, why, (match[0],))


def _tested(sentence: Sentence, match: re.Match[str]) -> Iterator[Finding]:
    """A test whose p is not that of its statistic, at either end of what is printed."""
    groups = match.groupdict()
    statistic, two_sided = _read(match["value"]), _two_sided(groups)
    p, sign = _read(groups["p"] or groups["p2"] or ""), groups["sign"] or groups["sign2"]
    if two_sided is None or math.isinf(p.low) or math.isinf(statistic.low):
        return
    if match["test"] == "r" and max(-statistic.high, statistic.low) > 1:
        yield _finding(sentence, match, "at most 1 in size", "a correlation lies between -1 and 1")
        return
    sizes = sorted((abs(statistic.low), abs(statistic.high)))
    true = Interval(two_sided(sizes[1]), two_sided(0.0 if statistic.low <= 0 <= statistic.high else sizes[0]))
    for one in (true, true * 0.5) if _ONE_SIDED.search(sentence.text) else (true,):
        if one.low <= p.middle if sign in "<≤" else one.high >= p.middle if sign in ">≥" else meets(one, p):
            return
    low = p.middle < 0.05 or (sign == "<" and p.middle <= 0.05)
    if sign in ">≥":
        changes = p.middle >= 0.05 > true.high
    else:
        changes = low != (true.low < 0.05) and not true.low < 0.05 < true.high
    why = "recomputed from the statistic as printed" + ("; the decision at .05 changes" if changes else "")
    expected = f"p from {true.low:.2g} to {true.high:.2g}"
    yield _finding(sentence, match, expected, why, "error" if changes else "warning")


def _two_sided(groups: dict[str, str | None]) -> Callable[[float], float] | None:
    """How a statistic without its sign becomes p; None without its degrees of freedom."""
    test, n = groups["test"] or "", groups.get("n") or groups.get("n2")
    one, two = float(groups.get("df1") or 0), float(groups.get("df2") or 0)
    if test in ("z", "Z"):
        return lambda size: float(2 * stats.norm.sf(size))
    if test == "r":
        df = int(n) - 2 if n else one
        if df < 1:
            return None
        return lambda size: float(2 * stats.t.sf(size * math.sqrt(df / max(1e-300, 1 - min(size, 1) ** 2)), df))
    if one <= 0 or (test == "F" and two <= 0) or (test == "t" and two):
        return None
    if test == "t":
        return lambda size: float(2 * stats.t.sf(size, one))
    return lambda size: float(stats.f.sf(size, one, two) if test == "F" else stats.chi2.sf(size, one))


def _percentages(sentence: Sentence) -> Iterator[Finding]:
    """A percentage that no count of so many things gives (GRIM)."""
    for match in _GRIM.finditer(sentence.text):
        n, percent, places = int(match["n"]), _read(match["percent"]), len(match["percent"].partition(".")[2])
        if (
            match["noun"] in _COUNTED
            and 2 <= n < 100 * 10**places
            and not _HEDGED.search(sentence.text[: match.start()])
        ):
            low, high = percent.low * n / 100, percent.high * n / 100
            if math.floor(high + 1e-9) < math.ceil(low - 1e-9):
                near = [100 * count / n for count in (math.floor(low), math.ceil(high))]
                expected = " or ".join(f"{each:.{max(1, places)}f} %" for each in near)
                why = f"no whole number of {n} {match['noun']} is {match['percent']} % of them"
                yield _finding(sentence, match, expected, why, "warning")
