"""Check the arithmetic of sentences: equations, percentages of a total, and changes stated beside their two values."""

import re
from collections.abc import Iterator

from boundpaper.audit.documents import ReadDocument, Sentence
from boundpaper.audit.finding import CellRelation, Finding, Formula, format_interval
from boundpaper.audit.number import Number
from boundpaper.audit.relations import FORMULAS
from boundpaper.statistics.rounding import Interval, meets, ratio

_N = "[\ue000-\uf8ff]"  # a number in `Sentence.masked_text`
_ABOUT = r"(?:(?:only|just|about|roughly|approximately|around|nearly)\s|[~≈])*+"
_SUM = re.compile(
    r"(?P<before>\w?)(?<![-+\u2212\u2013/×*÷^)\]}·√])(?<![-+\u2212\u2013/×*÷^)\]}·√]\s)"  # before the first term
    rf"(?P<terms>{_N}(?:\s?[-+\u2212\u2013/×*÷]\s?{_N})++)\s?(?P<equal>[=≈])\s?(?P<result>{_N})"
    r"(?!\s?[-+\u2212*/×·^(\[{≠?])"
)
_OF = r"\s?(?:of|out of|/)\s?(?:the |all |a total of )?"
_SHARE = re.compile(
    rf"(?P<k>{_N}){_OF}(?P<n>{_N})(?:\s[a-z-]+){{0,3}}\s?(?:\((?:or |i\.e\.,? )?|, (?:or|i\.e\.,?) )[~≈]?(?P<p>{_N})"
)
_OF_SHARE = re.compile(rf"(?P<p>{_N})\s?(?:\(|—|, or)\s?(?P<k>{_N}){_OF}(?P<n>{_N})")
_TWO_VALUES = re.compile(
    rf"(?P<a>{_N})(?P<gap>\s?(?:to|→|->|⟶)\s?|\s?(?:vs\.?|versus|compared (?:to|with)|against)\s){_ABOUT}(?P<b>{_N})"
)
_FROM = re.compile(rf"\bfrom\s{_ABOUT}$")
_CHANGE_AFTER = re.compile(
    r"[\w%/-]{0,12}\s?(?:\(|(?:[,:;\u2013\u2014]\s?)?(?=[a-z])|[\u2013\u2014]\s?)(?:(?:an?|or|i\.e\.,?|that is,?|about|"
    r"roughly|up|down|approximately|nearly|by|thus|only|which is|relative|change|drop|gain|increase|decrease|"
    rf"improvement|reduction|of)\s?){{0,4}}[~≈+]?(?P<c>{_N})(?!\s?(?:to|→|->)\s?{_N})"
)
_CHANGE_NOUNS = (
    "increase|decrease|improvement|reduction|drop|gain|rise|fall|decline|growth|jump|boost|speed-?up|faster|slower|higher|"
    "lower|more|fewer|less"
)
_CHANGE_BEFORE = re.compile(
    rf"(?<![→⟶>])(?<!\bto\s)(?P<c>{_N})\s?(?:\w+ )?(?:{_CHANGE_NOUNS})?,?\s?\(?(?:from )?{_ABOUT}$"
)
_CHANGE_WORD = re.compile(
    rf"(?i){_CHANGE_NOUNS}|increas|decreas|improv|reduc|\brose|\bfell|declin|grow|grew|\bcut|shrink|shrank|sav|doubl|tripl|halv|from\b"
)
_COVERAGE = re.compile(r"\s?(?:CI|confidence|credible|[A-Z][\w-]{1,20}\s(?:CI|interval|upper|lower|bound))\b")
_ASCII_SIGNS = str.maketrans("\u2212\u2013÷×", "--/*")
_NAME = re.compile(r"(?:[A-Z][\w-]{1,20}|\d[\w.-]{0,6}[A-Za-z])\s$")


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield the findings of each sentence that has two or more numbers."""
    for sentence in document.sentences:
        if 2 <= len(sentence.numbers) < 1000:
            yield from (*_equations(sentence), *_shares(sentence), *_changes(sentence))


def _finding(
    sentence: Sentence, numbers: list[Number], expected: str, explanation: str, formula: Formula | None = None
) -> Finding:
    """Return a finding that quotes the part of a sentence with `numbers`, which are the operands and the result."""
    quote = sentence.text[min(number.start for number in numbers) : max(number.end for number in numbers)].strip()
    quote += ")" * (quote.count("(") - quote.count(")"))
    names = ("result", *(f"term {index}" for index in range(1, len(numbers))))
    relation = CellRelation(formula, names, ((quote, (numbers[-1], *numbers[:-1])),)) if formula else None
    return Finding("arithmetic", "error", sentence.place, quote, explanation, expected, relation=relation)


def _equations(sentence: Sentence) -> Iterator[Finding]:
    """Yield findings on wrong equations of two or more terms (`a - b = c`); whole numbers must agree exactly."""
    for match in _SUM.finditer(sentence.masked_text):
        sign, *other_signs = set(re.sub(rf"{_N}|\s", "", match["terms"]).translate(_ASCII_SIGNS))
        *terms, result = [sentence.number(char) for char in re.findall(_N, match["terms"] + match["result"])]
        units, unit = {term.unit for term in terms}, result.unit
        if sign in "+-":
            unit_fits = unit in units or (units == {"%"} and unit == "points")
        else:
            unit_fits = unit == "" or (sign == "/" and unit in ("x", "%"))
        if match["before"] or other_signs or (sign == "/" and len(terms) > 2) or len(units) > 1 or not unit_fits:
            continue
        are_whole = all(term.decimals <= 0 and not term.qualifier for term in terms)
        result_interval = result.loose_interval if match["equal"] == "≈" or result.qualifier else result.interval
        operands = [Interval(term.value, term.value) if are_whole else term.interval for term in terms]
        formulas = [FORMULAS[sign], *([FORMULAS["share"]] if sign == "/" else [])]
        values = [value for formula in formulas if (value := formula.of_intervals(operands))]
        if values and not any(meets(value, result_interval) for value in values):
            index = -1 if result.unit == "%" else 0
            expected = format_interval(values[index])
            yield _finding(sentence, [*terms, result], expected, "the value of the left side", formulas[index])


def _shares(sentence: Sentence) -> Iterator[Finding]:
    """Yield findings on wrong percentages in `k of n (p %)` and `p % (k of n)`; truncated ones count as right."""
    for match in (*_SHARE.finditer(sentence.masked_text), *_OF_SHARE.finditer(sentence.masked_text)):
        count, total, percent = numbers = [sentence.number(match[name]) for name in "knp"]
        are_counts = not count.unit and not total.unit and count.decimals <= 0 and total.decimals <= 0
        are_counts = are_counts and not _COVERAGE.match(sentence.text, percent.end)
        if percent.unit != "%" or not are_counts or not 0 <= count.value <= total.value or not total.value:
            continue
        share = 100 * count.value / total.value
        tolerance = (percent.loose_interval.width + percent.interval.width) / 2
        if count.text[0] not in "+-" and abs(share - percent.value) > tolerance * (1 + 1e-9):
            expected = f"{share:.{max(0, percent.decimals) + 1}f} %"
            yield _finding(sentence, numbers, expected, "the quotient of the two counts", FORMULAS["share"])


def _changes(sentence: Sentence) -> Iterator[Finding]:
    """Yield findings on changes in percent, times or points that contradict the two values beside them."""
    for match in _TWO_VALUES.finditer(sentence.masked_text):
        first, second = sentence.number(match["a"]), sentence.number(match["b"])
        before, gap = sentence.masked_text[: match.start()], match["gap"].strip()
        is_in_chain = before.rstrip().endswith(("→", "->", "⟶", "="))  # after `=` comes a setting
        if is_in_chain or (gap == "to" and not _FROM.search(before)) or "bound" in (first.qualifier, second.qualifier):
            continue
        if first.unit not in ("", second.unit) or (first.decimals != second.decimals and not second.unit):
            continue
        if min(first.loose_interval.low, second.loose_interval.low) <= 0 or (not second.unit and _NAME.search(before)):
            continue
        change_before = _CHANGE_BEFORE.search(before) if gap in ("to", "→", "->", "⟶") else None
        change_after = _CHANGE_AFTER.match(sentence.masked_text, match.end())
        changes = [sentence.number(match["c"]) for match in (change_before, change_after) if match]
        changes = [number for number in changes if number.unit in ("%", "x", "points") and number.qualifier != "bound"]
        if len(changes) != 1 or (gap not in ("→", "->") and not _CHANGE_WORD.search(sentence.masked_text)):
            continue
        change = changes[0]
        if _COVERAGE.match(sentence.text, change.end):
            continue
        size, half_width = abs(change.loose_interval.middle), change.loose_interval.width / 2
        # A truncated number is up to one unit too small.
        stated_intervals = [Interval(size - half_width, size + half_width + change.interval.width / 2)]
        stated_intervals += [
            number.loose_interval
            for number in sentence.numbers
            if number.unit == change.unit and number not in (first, second, change)
        ]
        meanings = _meanings(first, second, change)
        if not any(meets(meaning, interval) for meaning in meanings for interval in stated_intervals):
            nearest = min(meanings, key=lambda meaning: abs(meaning.middle - abs(change.value)))
            unit = {"%": " %", "x": " x"}.get(change.unit, " points")
            reason = f"{first.text} and {second.text} differ by another percentage, ratio and number of points"
            yield _finding(sentence, [first, second, change], format_interval(nearest) + unit, reason)


def _meanings(first: Number, second: Number, change: Number) -> list[Interval]:
    """Return an interval for each possible meaning of a change between two numbers, in the unit of the change."""
    before, after = first.loose_interval, second.loose_interval
    rise, fall = ratio(after, before), ratio(before, after)
    points = [after - before, before - after]
    largest = max(first.value, second.value)
    hundredfold_points = [value * 100 for value in points] if largest <= 1 else []
    if change.unit == "x":
        return [rise, fall, rise - 1, fall - 1]
    if change.unit == "points":
        return points + hundredfold_points
    percentages = [(value - 1) * sign for value in (rise, fall) for sign in (100, -100)] + [rise * 100, fall * 100]
    return percentages + hundredfold_points + (points if "%" in (first.unit, second.unit) or largest <= 100 else [])
