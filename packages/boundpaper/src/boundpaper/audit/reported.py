"""Statistics as sentences report them: tests against their p, estimates against intervals, percentages of counts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from scipy import stats

from boundpaper.audit.documents import Document, Place, Sentence
from boundpaper.audit.finding import Finding
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, meets, printed_interval
from boundpaper.typeset.printed import Printed, parse

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
            for pattern in (_TEST, _Z, _R):
                for match in pattern.finditer(text):
                    yield from _tested(sentence, match)
        for match in _ALONE.finditer(text):
            yield from _impossible(sentence, match)
        yield from _intervals(sentence)
        yield from _percentages(sentence)


def _read(text: str) -> Printed | None:
    body = text.replace("\u2212", "-").replace("\u2013", "-")
    body = re.sub(r"^(-?)\.", r"\g<1>0.", body)
    try:
        return parse(body)
    except DataError:
        return None


def _tested(sentence: Sentence, match: re.Match[str]) -> Iterator[Finding]:
    groups = match.groupdict()
    statistic = _read(match["value"])
    p, sign = _read(groups["p"] or groups["p2"]), groups["sign"] or groups["sign2"]
    if statistic is None or statistic.value is None or p is None or p.value is None or p.decimals is None:
        return
    two_sided = _two_sided(groups)
    if two_sided is None:
        return
    name = match["test"]
    if name == "r" and abs(statistic.value) > 1:
        yield _finding(sentence, match[0], "at most 1 in size", "a correlation lies between -1 and 1", "error", match)
        return
    sizes = sorted((abs(statistic.low), abs(statistic.high)))
    if statistic.low <= 0 <= statistic.high:
        sizes[0] = 0.0
    range_of = Interval(two_sided(sizes[1]), two_sided(sizes[0]))
    allowed = [range_of]
    if _ONE_SIDED.search(sentence.text):
        allowed.append(range_of * 0.5)
    if any(_fits(each, sign, p.value, p.decimals) for each in allowed):
        return
    printed_low = p.value < 0.05 or (sign == "<" and p.value <= 0.05)
    changes = (
        sign not in (">", "≥") and printed_low != (range_of.low < 0.05) and not range_of.low < 0.05 < range_of.high
    )
    changes = changes or (sign in (">", "≥") and p.value >= 0.05 and range_of.high < 0.05)
    why = "recomputed from the statistic as printed" + ("; the decision at .05 changes" if changes else "")
    yield _finding(sentence, match[0], f"p {_small(range_of)}", why, "error" if changes else "warning", match)


def _small(interval: Interval) -> str:
    return f"from {interval.low:.2g} to {interval.high:.2g}"


def _two_sided(groups: dict[str, str | None]) -> Callable[[float], float] | None:
    """How a statistic without its sign becomes p; None without degrees of freedom."""
    test, first, second = groups["test"] or "", groups.get("df1"), groups.get("df2")
    if test in ("z", "Z"):
        return lambda size: float(2 * stats.norm.sf(size))
    n = groups.get("n") or groups.get("n2")
    if test == "r" and (n or first):
        df = int(n) - 2 if n else float(first or 0)
        if df < 1:
            return None
        return lambda size: float(2 * stats.t.sf(size * math.sqrt(df / max(1e-300, 1 - min(size, 1) ** 2)), df))
    if not first or float(first) <= 0:
        return None
    one = float(first)
    if test == "t":
        return None if second else lambda size: float(2 * stats.t.sf(size, one))
    if test == "F":
        return (lambda size: float(stats.f.sf(size, one, float(second)))) if second and float(second) > 0 else None
    return lambda size: float(stats.chi2.sf(size, one))


def _fits(range_of: Interval, sign: str, p: float, decimals: int) -> bool:
    if sign in ("<", "≤"):
        return range_of.low <= p
    if sign in (">", "≥"):
        return range_of.high >= p
    return meets(range_of, printed_interval(p, decimals))


def _finding(
    sentence: Sentence, printed: str, expected: str, why: str, level: str, match: re.Match[str] | None = None
) -> Finding:
    return Finding(
        "statistic", "error" if level == "error" else "warning", Place(sentence.file, sentence.line), printed.strip(),
        expected, why, (printed,),
    )  # fmt: skip


def _impossible(sentence: Sentence, match: re.Match[str]) -> Iterator[Finding]:
    p = _read(match["p"])
    if p is None or p.value is None or not re.search(r"[.\u2212-]", match["p"]):
        return
    if p.value < 0 or (p.value > 1 and match["sign"] in "=>≥"):
        yield _finding(sentence, match[0], "0 to 1", "a probability lies between 0 and 1", "error")


def _intervals(sentence: Sentence) -> Iterator[Finding]:
    for match in _INTERVAL.finditer(sentence.text):
        if re.search(r"\b[pnN]\s?[=<>]\s?$", sentence.text[: match.start()][-6:]):
            continue
        value, low, high = (_read(match[name]) for name in ("value", "low", "high"))
        if value is None or low is None or high is None or low.value is None or high.value is None:
            continue
        if low.value > high.value:
            why = "the ends of the interval run downwards"
            yield _finding(sentence, match[0], "", why, "error")
        elif not meets(Interval(value.low, value.high), Interval(low.low, high.high)):
            limits = f"{match['low']} to {match['high']}"
            yield _finding(sentence, match[0], limits, "the interval does not hold its estimate", "error")


def _percentages(sentence: Sentence) -> Iterator[Finding]:
    """A percentage that no count of so many things gives (GRIM)."""
    for match in _GRIM.finditer(sentence.text):
        n, percent = int(match["n"]), _read(match["percent"])
        if match["noun"] not in _COUNTED or n < 2 or percent is None or percent.decimals is None:
            continue
        if n >= 100 * 10**percent.decimals or _HEDGED.search(sentence.text[: match.start()]):
            continue
        low, high = percent.low * n / 100, percent.high * n / 100
        if math.floor(high + 1e-9) < math.ceil(low - 1e-9):
            near = [100 * count / n for count in (math.floor(low), math.ceil(high))]
            expected = " or ".join(f"{each:.{max(1, percent.decimals)}f} %" for each in near)
            why = f"no whole number of {n} {match['noun']} is {match['percent']} % of them"
            yield _finding(sentence, match[0], expected, why, "warning")
