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
    quote = sentence.text[min(term.start for term in numbers) : max(term.end for term in numbers)].strip()
    quote += ")" * (quote.count("(") - quote.count(")"))
    names = ("result", *(f"term {place}" for place in range(1, len(numbers))))
    relation = CellRelation(by, names, ((quote, (numbers[-1], *numbers[:-1])),)) if by else None
    return Finding("arithmetic", "error", sentence.place, quote, why, expected, relation=relation)


def _equations(sentence: Sentence) -> Iterator[Finding]:
    """Check `a - b = c`, also with more terms of one operator; whole numbers must agree exactly."""
    for match in _SUM.finditer(sentence.signed):
        sign, *operators = set(re.sub(rf"{_N}|\s", "", match["terms"]).translate(_PLAIN))
        *terms, result = [sentence.number(number) for number in re.findall(_N, match["terms"] + match["result"])]
        units, unit = {term.unit for term in terms}, result.unit
        fits = unit in units or (units == {"%"} and unit == "points") if sign in "+-" else unit == ""
        fits = fits or (sign == "/" and unit in ("x", "%"))
        if match["before"] or operators or (sign == "/" and len(terms) > 2) or len(units) > 1 or not fits:
            continue
        all_whole = all(term.decimals <= 0 and not term.qualifier for term in terms)
        stated = result.loose if match["equal"] == "≈" or result.qualifier else result.interval
        values = [Interval(term.value, term.value) if all_whole else term.interval for term in terms]
        formulas = [FORMULAS[sign], *([FORMULAS["share"]] if sign == "/" else [])]
        readings = [reading for formula in formulas if (reading := formula.of_intervals(values))]
        if readings and not any(meets(reading, stated) for reading in readings):
            nearest = -1 if result.unit == "%" else 0
            nearest_text = format_interval(readings[nearest])
            yield _finding(sentence, [*terms, result], nearest_text, "the value of the left side", formulas[nearest])


def _shares(sentence: Sentence) -> Iterator[Finding]:
    """Check `k of n (p %)` and `p % (k of n)`; a truncated percentage counts as correct."""
    for match in (*_SHARE.finditer(sentence.signed), *_OF_SHARE.finditer(sentence.signed)):
        count, of, percent = numbers = [sentence.number(match[name]) for name in "knp"]
        are_counts = not count.unit and not of.unit and count.decimals <= 0 and of.decimals <= 0
        are_counts = are_counts and not _COVERAGE.match(sentence.text, percent.end)
        if percent.unit != "%" or not are_counts or not 0 <= count.value <= of.value or not of.value:
            continue
        share, half = 100 * count.value / of.value, percent.loose.width / 2 + percent.interval.width / 2
        if count.text[0] not in "+-" and abs(share - percent.value) > half * (1 + 1e-9):
            share_text = f"{share:.{max(0, percent.decimals) + 1}f} %"
            yield _finding(sentence, numbers, share_text, "the quotient of the two counts", FORMULAS["share"])


def _changes(sentence: Sentence) -> Iterator[Finding]:
    """Find changes in percent, times or points that the two values beside them cannot explain."""
    for match in _ENDS.finditer(sentence.signed):
        first, second, left = sentence.number(match["a"]), sentence.number(match["b"]), sentence.signed[: match.start()]
        gap = match["gap"].strip()
        in_chain = left.rstrip().endswith(("→", "->", "⟶", "="))  # or it may be the value of a setting
        if in_chain or (gap == "to" and not _FROM.search(left)) or "bound" in (first.qualifier, second.qualifier):
            continue
        if first.unit not in ("", second.unit) or (first.decimals != second.decimals and not second.unit):
            continue
        if min(first.loose.low, second.loose.low) <= 0 or (not second.unit and _NAME.search(left)):
            continue
        lead = _LEADS.search(left) if gap in ("to", "→", "->", "⟶") else None
        after = _BESIDE.match(sentence.signed, match.end())
        changes = [sentence.number(item["c"]) for item in (lead, after) if item]
        changes = [number for number in changes if number.unit in ("%", "x", "points") and number.qualifier != "bound"]
        if len(changes) != 1 or (gap not in ("→", "->") and not _CUE.search(sentence.signed)):
            continue
        change = changes[0]
        rest = [item for item in sentence.numbers if item.unit == change.unit and item not in (first, second, change)]
        readings = _meanings(first, second, change)
        size, half = abs(change.loose.middle), change.loose.width / 2  # a truncated number is up to one unit too small
        stated = [Interval(size - half, size + half + change.interval.width / 2), *(item.loose for item in rest)]
        interval = _COVERAGE.match(sentence.text, change.end)
        if not interval and not any(meets(reading, item) for reading in readings for item in stated):
            nearest = min(readings, key=lambda item: abs(item.middle - abs(change.value)))
            unit = {"%": " %", "x": " x"}.get(change.unit, " points")
            bases = f"{first.text} and {second.text} cannot give {change.text}"
            reason = f"{bases}: neither relative to either value, nor as points or ratio"
            yield _finding(sentence, [first, second, change], format_interval(nearest) + unit, reason)


def _meanings(first: Number, second: Number, change: Number) -> list[Interval]:
    """Return an interval for each possible meaning of a change between two numbers, in the unit of the change."""
    rise, fall = ratio(second.loose, first.loose), ratio(first.loose, second.loose)
    points = [second.loose - first.loose, first.loose - second.loose]
    largest = max(first.value, second.value)
    hundredfold = [value * 100 for value in points] if largest <= 1 else []
    if change.unit == "x":
        return [rise, fall, rise - 1, fall - 1]
    if change.unit == "points":
        return points + hundredfold
    relative = [(value - 1) * sign for value in (rise, fall) for sign in (100, -100)] + [rise * 100, fall * 100]
    return relative + hundredfold + (points if "%" in (first.unit, second.unit) or largest <= 100 else [])
