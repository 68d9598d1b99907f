"""Arithmetic within a sentence: equations, parts of a total, and a change beside its two ends.

A change is wrong only where no reading of it is right: of either base, as increase or ratio, in percent or points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from boundpaper.audit.documents import Document, Sentence
from boundpaper.audit.finding import Finding, Place, spread
from boundpaper.audit.number import Number
from boundpaper.statistics.rounding import Interval, meets, ratio

_SUM = re.compile(r"\s?(?P<sign>[-+\u2212\u2013/×*÷])\s?")
_EQUALS = re.compile(r"\s?(?P<sign>[=≈])\s?")
_TO = re.compile(r"\s?(?:to|→|->|⟶)\s?(?:only |just |about |roughly |approximately |~)?")
_AGAINST = re.compile(r"\s?(?:vs\.?|versus|compared (?:to|with)|against)\s(?:only |just )?")
_BESIDE = re.compile(
    r"[\w%/-]{0,12}\s?(?:\(|(?:[,:;\u2013\u2014]\s?)?(?=[a-z])|[\u2013\u2014]\s?)(?:(?:an?|or|i\.e\.,?|that is,?|about|"
    r"roughly|up|down|approximately|nearly|by|thus|only|which is|relative|change|drop|gain|increase|decrease|"
    r"improvement|reduction|of)\s?){0,4}"
    r"[~≈+]?"
)
_LEADS = re.compile(
    r"\s?(?:\w+ )?(?:increase|decrease|improvement|reduction|drop|gain|rise|fall|decline|growth|jump|boost|speed-?up|"
    r"faster|slower|higher|lower|more|fewer|less)?,?\s?\(?(?:from )?"
)
_BRACKETS = re.compile(r"[^.;:,()\d]{0,60}\((?:from )?")
_CUE = re.compile(
    r"increas|decreas|improv|reduc|drop|gain|\brise|\brose|\bf[ae]ll|declin|grow|grew|jump|boost|speed|faster|slower|"
    r"higher|lower|more|fewer|less|\bcut|shrink|shrank|sav|doubl|tripl|halv|from\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\b(?P<word>doubles?d?|doubling|triples?d?|tripling|halves|halved|halving|quadruples?d?)\b"
    r"(?P<between>[^.;,]{0,40})\bfrom\s",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[A-Z][\w-]{1,20}|\d[\w.-]{0,6}[A-Za-z])\s$")
_FACTORS = {"d": 2.0, "t": 3.0, "h": 0.5, "q": 4.0}
_OF = re.compile(r"\s?(?:of|out of|/)\s?(?:the |all |a total of )?")
_SHARE = re.compile(r"(?:\s[a-z-]+){0,3}\s?[(,]\s?(?:or |i\.e\.,? |~|≈)?")


def check(document: Document) -> Iterator[Finding]:
    """Findings in sentences with three numbers or more, and in sentences that say that two numbers double."""
    for sentence in document.sentences:
        numbers = sentence.numbers
        if len(numbers) >= 2:
            yield from _multiples(sentence)
        if len(numbers) >= 3:
            yield from _equations(sentence)
            yield from _shares(sentence)
            yield from _changes(sentence)


def _between(sentence: Sentence, first: Number, second: Number) -> str:
    return sentence.text[first.end : second.start]


def _finding(sentence: Sentence, printed: str, expected: str, why: str) -> Finding:
    place = Place(sentence.file, sentence.line)
    return Finding("arithmetic", "error", place, printed.strip(), expected, why, (printed,))


def _equations(sentence: Sentence) -> Iterator[Finding]:
    """`a - b = c` with one sign of arithmetic, also repeated."""
    text, numbers = sentence.text, sentence.numbers
    index = 0
    while index < len(numbers) - 2:
        terms, signs, at = [numbers[index]], [], index
        while at + 1 < len(numbers):
            gap = _between(sentence, numbers[at], numbers[at + 1])
            match = _SUM.fullmatch(gap)
            sign = match["sign"] if match else ""
            if not match and gap == " " and numbers[at + 1].text[0] in "+-\u2212":
                break
            if not match:
                break
            signs.append(sign.replace("\u2212", "-").replace("\u2013", "-"))
            at += 1
            terms.append(numbers[at])
        index = at + 1 if signs else index + 1
        if not signs or len(set(signs)) > 1 or at + 1 >= len(numbers) or (signs[0] in "/÷" and len(signs) > 1):
            continue
        result = numbers[at + 1]
        equal = _EQUALS.fullmatch(_between(sentence, numbers[at], result))
        before, after = text[: terms[0].start].rstrip()[-1:], text[result.end :].lstrip()[:1]
        if equal is None or (before in "+-\u2212*/×·^)]}" and before) or (after in "+-\u2212*/×·^([{" and after):
            continue
        if re.search(r"\w\s?[\u2013-]?$", text[: terms[0].start][-2:]) and text[: terms[0].start][-1:].isalnum():
            continue
        expected = _computed(signs[0], terms)
        if expected is None or not _units_fit(signs[0], terms, result):
            continue
        printed = result.loose if equal["sign"] == "≈" or result.qualifier else result.interval
        readings = [expected, expected * 100] if signs[0] in "/÷" else [expected]
        if not any(meets(each, printed) for each in readings):
            shown = text[terms[0].start : result.end]
            yield _finding(
                sentence, shown, spread(readings[-1 if result.unit == "%" else 0]), "the left side is so much"
            )


def _computed(sign: str, terms: Sequence[Number]) -> Interval | None:
    whole = all(one.decimals <= 0 and not one.qualifier for one in terms)
    values = [Interval(one.value, one.value) if whole else one.interval for one in terms]
    result = values[0]
    for each in values[1:]:
        if sign in "/÷" and each.low <= 0 <= each.high:
            return None
        result = (
            result + each if sign == "+" else result - each if sign == "-" else
            ratio(result, each) if sign in "/÷" else result * each
        )  # fmt: skip
    return result


def _units_fit(sign: str, terms: Sequence[Number], result: Number) -> bool:
    """Whether the units leave the equation one of numbers."""
    units = {one.unit for one in terms}
    if sign in "+-":
        return len(units) == 1 and (result.unit in units or (units == {"%"} and result.unit == "points"))
    if sign in "/÷":
        return len(units) == 1 and result.unit in ("", "x", "%")
    return units == {""} and result.unit == ""


def _shares(sentence: Sentence) -> Iterator[Finding]:
    """`k of n (p %)` and `p % (k of n)`; a percentage cut instead of rounded counts as right."""
    text, numbers = sentence.text, sentence.numbers
    for index in range(len(numbers) - 2):
        one, two, three = numbers[index : index + 3]
        if one.unit == "%" and not two.unit and not three.unit:
            gaps = (_between(sentence, one, two).strip() in ("(", "—", ", or"), _between(sentence, two, three))
            count, of, percent = two, three, one
            fits = gaps[0] and _OF.fullmatch(gaps[1])
        else:
            count, of, percent = one, two, three
            fits = _OF.fullmatch(_between(sentence, one, two)) and _SHARE.fullmatch(_between(sentence, two, three))
        if not fits or percent.unit != "%" or count.unit or of.unit:
            continue
        if count.decimals > 0 or of.decimals > 0 or not of.value > 0 or not 0 <= count.value <= of.value:
            continue
        share, half = 100 * count.value / of.value, percent.loose.width / 2 + percent.interval.width / 2
        if count.text[0] in "+-" or abs(share - percent.value) <= half * (1 + 1e-9):
            continue
        shown = text[min(one.start, three.start) : max(one.end, three.end)]
        yield _finding(sentence, shown, f"{share:.{max(0, percent.decimals) + 1}f} %", "the share of the two counts")


def _changes(sentence: Sentence) -> Iterator[Finding]:
    """A change in percent, times or points beside the two numbers that it is between."""
    text, numbers = sentence.text, sentence.numbers
    for index in range(len(numbers) - 1):
        one, two = numbers[index], numbers[index + 1]
        gap = _between(sentence, one, two)
        arrow = _TO.fullmatch(gap)
        if not arrow and not _AGAINST.fullmatch(gap):
            continue
        if "to" in gap and not re.search(r"\bfrom\s(?:only |just |about |~)?$", text[: one.start][-16:]):
            continue
        if one.value <= 0 or two.value <= 0 or one.qualifier == "bound" or two.qualifier == "bound":
            continue
        if (one.unit and one.unit != two.unit) or (one.decimals != two.decimals and not two.unit):
            continue
        if not two.unit and _NAME.search(text[max(0, one.start - 24) : one.start]):
            continue
        after = numbers[index + 2] if index + 2 < len(numbers) else None
        before = numbers[index - 1] if index else None
        beside = after is not None and _BESIDE.fullmatch(text[two.end : after.start].rstrip())
        lead = before is not None and _leads(text[before.end : one.start], bool(arrow))
        changes = [each for each, fits in ((after, beside), (before, lead)) if each is not None and fits]
        changes = [each for each in changes if each.unit in ("%", "x", "points") and each.qualifier != "bound"]
        if len(changes) != 1 or (not _CUE.search(text) and gap.strip() not in ("→", "->")):
            continue
        if (
            index + 3 < len(numbers)
            and changes[0] is after
            and _TO.fullmatch(_between(sentence, changes[0], numbers[index + 3]))
        ):
            continue
        if changes[0].unit == "%" and one.unit == "%" and re.match(r"\s?(?:CI|confidence)", text[changes[0].end :]):
            continue
        yield from _judged(sentence, one, two, changes[0])


def _leads(between: str, arrow: bool) -> bool:
    """Whether a change leads to its two ends: `a 25 % gain from`, or `9x more costly (`."""
    in_brackets = _BRACKETS.fullmatch(between) and _CUE.search(between)
    return bool((arrow and _LEADS.fullmatch(between)) or in_brackets)


def _judged(sentence: Sentence, one: Number, two: Number, change: Number) -> Iterator[Finding]:
    a, b = one.loose, two.loose
    if a.low <= 0 or b.low <= 0:
        return
    rise, fall = (ratio(b, a) - 1) * 100, (ratio(a, b) - 1) * 100
    ratios = [ratio(b, a), ratio(a, b), ratio(b, a) - 1, ratio(a, b) - 1]
    points = [b - a, a - b]
    if change.unit == "%":
        readings = [rise, fall, -rise, -fall, ratio(b, a) * 100, ratio(a, b) * 100]
        readings += points if "%" in (one.unit, two.unit) or max(one.value, two.value) <= 100 else []
        readings += [each * 100 for each in points] if max(one.value, two.value) <= 1 else []
    elif change.unit == "x":
        readings = ratios
    else:
        readings = [*points, *((each * 100 for each in points) if max(one.value, two.value) <= 1 else ())]
    printed = change.loose
    slack = change.interval.width / 2
    # cut instead of rounded, it is up to a whole unit below
    printed = Interval(abs(printed.middle) - printed.width / 2, abs(printed.middle) + printed.width / 2 + slack)
    if any(meets(each, printed) for each in readings):
        return
    shown = sentence.text[min(one.start, change.start) : max(two.end, change.end)]
    nearest = min(readings, key=lambda each: abs(each.middle - abs(change.value)))
    unit = {"%": " %", "x": " x"}.get(change.unit, " points")
    why = f"no reading of {one.text} and {two.text} gives {change.text}: not of either base, nor as points or ratio"
    yield _finding(sentence, shown, spread(nearest) + unit, why)


def _multiples(sentence: Sentence) -> Iterator[Finding]:
    """Doubles, triples, halves from a to b, with a tenth of play."""
    text, numbers = sentence.text, sentence.numbers
    for match in _TIMES.finditer(text):
        word, following = match["word"].lower(), [each for each in numbers if each.start >= match.end() - 1]
        before = text[max(0, match.start() - 16) : match.start()].lower()
        if len(following) < 2 or re.search(r"more than|nearly|almost|over|than|not|half", before + match["between"]):
            continue
        one, two = following[:2]
        if following[0].start > match.end() + 2 or not _TO.fullmatch(_between(sentence, one, two)):
            continue
        if (one.unit != two.unit and one.unit and two.unit) or one.loose.low <= 0:
            continue
        factor = _FACTORS[word[0]]
        change = ratio(two.loose, one.loose)
        if not meets(change, Interval(0.9 * factor, 1.1 * factor)):
            shown = text[match.start() : two.end]
            yield _finding(sentence, shown, f"{factor:g} x", f"{two.text} is {spread(change)} times {one.text}")
