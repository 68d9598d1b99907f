"""Check the arithmetic of a sentence: equations, percentages of a total, and changes stated beside both values."""

import re
from collections.abc import Iterator

from boundpaper.audit.documents import ReadDocument, Sentence
from boundpaper.audit.finding import CellRelation, Finding, Formula, format_interval
from boundpaper.audit.number import Number
from boundpaper.audit.relations import FORMULAS
from boundpaper.statistics.rounding import Interval, meets, ratio

_N = "[\ue000-\uf8ff]"
_ABOUT = r"(?:(?:only|just|about|roughly|approximately|around|nearly)\s|[~≈])*+"
_SUM = re.compile(
    r"(?P<before>\w?)(?<![-+\u2212\u2013/×*÷^)\]}·√])(?<![-+\u2212\u2013/×*÷^)\]}·√]\s)"  # from the first term of a sum
    rf"(?P<terms>{_N}(?:\s?[-+\u2212\u2013/×*÷]\s?{_N})++)\s?(?P<equal>[=≈])\s?(?P<result>{_N})"
    r"(?!\s?[-+\u2212*/×·^(\[{≠?])"
)
_OF = r"\s?(?:of|out of|/)\s?(?:the |all |a total of )?"
_SHARE = re.compile(
    rf"(?P<k>{_N}){_OF}(?P<n>{_N})(?:\s[a-z-]+){{0,3}}\s?(?:\((?:or |i\.e\.,? )?|, (?:or|i\.e\.,?) )[~≈]?(?P<p>{_N})"
)
_OF_SHARE = re.compile(rf"(?P<p>{_N})\s?(?:\(|—|, or)\s?(?P<k>{_N}){_OF}(?P<n>{_N})")
_ENDS = re.compile(
    rf"(?P<a>{_N})(?P<gap>\s?(?:to|→|->|⟶)\s?|\s?(?:vs\.?|versus|compared (?:to|with)|against)\s){_ABOUT}(?P<b>{_N})"
)
_FROM = re.compile(rf"\bfrom\s{_ABOUT}$")
_BESIDE = re.compile(
    r"[\w%/-]{0,12}\s?(?:\(|(?:[,:;\u2013\u2014]\s?)?(?=[a-z])|[\u2013\u2014]\s?)(?:(?:an?|or|i\.e\.,?|that is,?|about|"
    r"roughly|up|down|approximately|nearly|by|thus|only|which is|relative|change|drop|gain|increase|decrease|"
    rf"improvement|reduction|of)\s?){{0,4}}[~≈+]?(?P<c>{_N})(?!\s?(?:to|→|->)\s?{_N})"
)
_CHANGE = (
    "increase|decrease|improvement|reduction|drop|gain|rise|fall|decline|growth|jump|boost|speed-?up|faster|slower|higher|"
    "lower|more|fewer|less"
)
_LEADS = re.compile(rf"(?<![→⟶>])(?<!\bto\s)(?P<c>{_N})\s?(?:\w+ )?(?:{_CHANGE})?,?\s?\(?(?:from )?{_ABOUT}$")
_CUE = re.compile(
    rf"(?i){_CHANGE}|increas|decreas|improv|reduc|\brose|\bfell|declin|grow|grew|\bcut|shrink|shrank|sav|doubl|tripl|halv|from\b"
)
_COVERAGE = re.compile(r"\s?(?:CI|confidence|credible|[A-Z][\w-]{1,20}\s(?:CI|interval|upper|lower|bound))\b")
_PLAIN = str.maketrans("\u2212\u2013÷×", "--/*")
_NAME = re.compile(r"(?:[A-Z][\w-]{1,20}|\d[\w.-]{0,6}[A-Za-z])\s$")


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield the findings of each sentence that has two or more numbers."""
    for sentence in document.sentences:
        if 2 <= len(sentence.numbers) < 1000:
            yield from (*_equations(sentence), *_shares(sentence), *_changes(sentence))


def _finding(sentence: Sentence, numbers: list[Number], expected: str, why: str, by: Formula | None = None) -> Finding:
    """Make a finding that quotes the sentence from first to last number; the last of `numbers` is the result."""
    printed = sentence.text[min(one.start for one in numbers) : max(one.end for one in numbers)].strip()
    printed += ")" * (printed.count("(") - printed.count(")"))
    names = ("result", *(f"term {place}" for place in range(1, len(numbers))))
    relation = CellRelation(by, names, ((printed, (numbers[-1], *numbers[:-1])),)) if by else None
    return Finding("arithmetic", "error", sentence.place, printed, why, expected, relation=relation)


def _equations(sentence: Sentence) -> Iterator[Finding]:
    """Check `a - b = c`, also with more terms of one operator; whole numbers must agree exactly."""
    for match in _SUM.finditer(sentence.signed):
        sign, *others = set(re.sub(rf"{_N}|\s", "", match["terms"]).translate(_PLAIN))
        *terms, result = [sentence.number(each) for each in re.findall(_N, match["terms"] + match["result"])]
        units, unit = {one.unit for one in terms}, result.unit
        fits = unit in units or (units == {"%"} and unit == "points") if sign in "+-" else unit == ""
        fits = fits or (sign == "/" and unit in ("x", "%"))
        if match["before"] or others or (sign == "/" and len(terms) > 2) or len(units) > 1 or not fits:
            continue
        whole = all(one.decimals <= 0 and not one.qualifier for one in terms)
        printed = result.loose if match["equal"] == "≈" or result.qualifier else result.interval
        values = [Interval(one.value, one.value) if whole else one.interval for one in terms]
        formulas = [FORMULAS[sign], *([FORMULAS["share"]] if sign == "/" else [])]
        readings = [each for formula in formulas if (each := formula.of_intervals(values))]
        if readings and not any(meets(each, printed) for each in readings):
            nearest = -1 if result.unit == "%" else 0
            expected = format_interval(readings[nearest])
            yield _finding(sentence, [*terms, result], expected, "the value of the left side", formulas[nearest])


def _shares(sentence: Sentence) -> Iterator[Finding]:
    """Check `k of n (p %)` and `p % (k of n)`; a truncated percentage counts as correct."""
    for match in (*_SHARE.finditer(sentence.signed), *_OF_SHARE.finditer(sentence.signed)):
        count, of, percent = numbers = [sentence.number(match[name]) for name in "knp"]
        whole = not count.unit and not of.unit and count.decimals <= 0 and of.decimals <= 0
        whole = whole and not _COVERAGE.match(sentence.text, percent.end)
        if percent.unit != "%" or not whole or not 0 <= count.value <= of.value or not of.value:
            continue
        share, half = 100 * count.value / of.value, percent.loose.width / 2 + percent.interval.width / 2
        if count.text[0] not in "+-" and abs(share - percent.value) > half * (1 + 1e-9):
            expected = f"{share:.{max(0, percent.decimals) + 1}f} %"
            yield _finding(sentence, numbers, expected, "the quotient of the two counts", FORMULAS["share"])


def _changes(sentence: Sentence) -> Iterator[Finding]:
    """Find changes in percent, times or points that the two values beside them cannot explain."""
    for match in _ENDS.finditer(sentence.signed):
        one, two, before = sentence.number(match["a"]), sentence.number(match["b"]), sentence.signed[: match.start()]
        gap = match["gap"].strip()
        chained = before.rstrip().endswith(("→", "->", "⟶", "="))  # or it may be the value of a setting
        if chained or (gap == "to" and not _FROM.search(before)) or "bound" in (one.qualifier, two.qualifier):
            continue
        if one.unit not in ("", two.unit) or (one.decimals != two.decimals and not two.unit):
            continue
        if min(one.loose.low, two.loose.low) <= 0 or (not two.unit and _NAME.search(before)):
            continue
        lead = _LEADS.search(before) if gap in ("to", "→", "->", "⟶") else None
        beside = _BESIDE.match(sentence.signed, match.end())
        changes = [sentence.number(each["c"]) for each in (lead, beside) if each]
        changes = [each for each in changes if each.unit in ("%", "x", "points") and each.qualifier != "bound"]
        if len(changes) != 1 or (gap not in ("→", "->") and not _CUE.search(sentence.signed)):
            continue
        change = changes[0]
        others = [each for each in sentence.numbers if each.unit == change.unit and each not in (one, two, change)]
        readings = _meanings(one, two, change)
        size, half = abs(change.loose.middle), change.loose.width / 2  # a truncated number is up to one unit too small
        printed = [Interval(size - half, size + half + change.interval.width / 2), *(each.loose for each in others)]
        interval = _COVERAGE.match(sentence.text, change.end)
        if not interval and not any(meets(reading, each) for reading in readings for each in printed):
            nearest = min(readings, key=lambda each: abs(each.middle - abs(change.value)))
            unit = {"%": " %", "x": " x"}.get(change.unit, " points")
            bases = f"{one.text} and {two.text} cannot give {change.text}"
            why = f"{bases}: neither relative to either value, nor as points or ratio"
            yield _finding(sentence, [one, two, change], format_interval(nearest) + unit, why)


def _meanings(one: Number, two: Number, change: Number) -> list[Interval]:
    """Return an interval for each possible meaning of a change between two numbers, in the unit of the change."""
    rise, fall = ratio(two.loose, one.loose), ratio(one.loose, two.loose)
    points = [two.loose - one.loose, one.loose - two.loose]
    most = max(one.value, two.value)
    hundredfold = [each * 100 for each in points] if most <= 1 else []
    if change.unit == "x":
        return [rise, fall, rise - 1, fall - 1]
    if change.unit == "points":
        return points + hundredfold
    relative = [(each - 1) * sign for each in (rise, fall) for sign in (100, -100)] + [rise * 100, fall * 100]
    return relative + hundredfold + (points if "%" in (one.unit, two.unit) or most <= 100 else [])
