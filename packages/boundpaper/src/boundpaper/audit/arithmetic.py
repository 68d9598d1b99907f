"""Arithmetic within a sentence: equations, parts of a total, and a change beside its two ends.

A change is wrong only where no reading of it is right: of either base, as increase or ratio, in percent or points.
Patterns run over a sentence in which each number is one sign, so that they say only what stands between numbers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul, sub

from boundpaper.audit.documents import Document, Sentence
from boundpaper.audit.finding import Finding, Formula, Relation, spread
from boundpaper.audit.number import Number
from boundpaper.audit.relations import FORMULAS
from boundpaper.statistics.rounding import Interval, meets, ratio

_N, _FIRST = "[\ue000-\uf8ff]", 0xE000
_ABOUT = r"(?:(?:only|just|about|roughly|approximately|around|nearly)\s|[~≈])*+"
_SUM = re.compile(
    r"(?P<before>\w?)(?<![-+\u2212\u2013/×*÷])(?<![-+\u2212\u2013/×*÷]\s)"  # from the first term of a sum
    rf"(?P<terms>{_N}(?:\s?[-+\u2212\u2013/×*÷]\s?{_N})++)\s?(?P<equal>[=≈])\s?{_N}"
    r"(?!\s?[-+\u2212*/×·^(\[{≠])"
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
_LEADS = re.compile(rf"(?P<c>{_N})\s?(?:\w+ )?(?:{_CHANGE})?,?\s?\(?(?:from )?{_ABOUT}$")
_BRACKETS = re.compile(rf"(?P<c>{_N})[^.;:,()\ue000-\uf8ff]{{0,60}}\((?:from )?$")
_CUE = re.compile(
    rf"{_CHANGE}|increas|decreas|improv|reduc|\brose|\bfell|declin|grow|grew|\bcut|shrink|shrank|sav|doubl|tripl|halv|from\b",
    re.IGNORECASE,
)
_PLAIN = {0x2212: "-", 0x2013: "-", 0xF7: "/", 0xD7: "*"}
_SIGNS = {
    "+": FORMULAS["sum"], "-": Formula(" - ", lambda *terms: reduce(sub, terms)), "/": FORMULAS["/"],
    "*": Formula(" * ", lambda *terms: reduce(mul, terms)),
}  # fmt: skip
_NAME = re.compile(r"(?:[A-Z][\w-]{1,20}|\d[\w.-]{0,6}[A-Za-z])\s$")


@dataclass(frozen=True)
class Signed:
    """A sentence with each of its numbers as one sign."""

    sentence: Sentence
    text: str

    def number(self, sign: str) -> Number:
        """The number that a sign stands for."""
        return self.sentence.numbers[ord(sign) - _FIRST]

    def finding(self, signs: str, expected: str, why: str, formula: Formula | None = None) -> Finding:
        """A finding that prints the sentence from the first to the last of some signs: operands, then the result."""
        numbers = [self.number(sign) for sign in signs]
        printed = self.sentence.text[min(one.start for one in numbers) : max(one.end for one in numbers)].strip()
        names = ("result", *(f"term {place}" for place in range(1, len(numbers))))
        relation = Relation(formula, names, ((printed, (numbers[-1], *numbers[:-1])),)) if formula else None
        place, values = self.sentence.place, (printed,)
        return Finding("arithmetic", "error", place, printed, expected, why, values, relation=relation)


def check(document: Document) -> Iterator[Finding]:
    """Findings of each sentence with two numbers or more."""
    for sentence in document.sentences:
        if 2 <= len(sentence.numbers) < 1000:
            text, end = "", 0
            for index, one in enumerate(sentence.numbers):
                text, end = text + sentence.text[end : one.start] + chr(_FIRST + index), one.end
            signed = Signed(sentence, text + sentence.text[end:])
            for look in (_equations, _shares, _changes):
                yield from look(signed)


def _equations(signed: Signed) -> Iterator[Finding]:
    """`a - b = c` with one sign of arithmetic, also repeated; whole numbers are exact."""
    for match in _SUM.finditer(signed.text):
        signs = set(re.sub(rf"{_N}|\s", "", match["terms"]).translate(_PLAIN))
        found = re.findall(_N, match["terms"])
        terms, result, sign = [signed.number(each) for each in found], signed.number(match[0][-1]), min(signs)
        before = signed.text[: match.start("terms")].rstrip()[-1:]
        if match["before"] or (before and before in "+-\u2212*/×·^)]}") or len(signs) > 1:
            continue
        if (sign == "/" and len(terms) > 2) or not _units_fit(sign, terms, result):
            continue
        whole = all(one.decimals <= 0 and not one.qualifier for one in terms)
        printed = result.loose if match["equal"] == "≈" or result.qualifier else result.interval
        values = [Interval(one.value, one.value) if whole else one.interval for one in terms]
        formulas = [_SIGNS[sign], *([FORMULAS["share"]] if sign == "/" else [])]
        try:
            readings = [formula.apply(*values) for formula in formulas]
        except ValueError:
            continue
        if not any(meets(each, printed) for each in readings):
            why = "the left side is so much"
            nearest = -1 if result.unit == "%" else 0
            yield signed.finding("".join(found) + match[0][-1], spread(readings[nearest]), why, formulas[nearest])


def _units_fit(sign: str, terms: Sequence[Number], result: Number) -> bool:
    """Whether the units leave the equation one of numbers."""
    units = {one.unit for one in terms}
    if sign in "+-":
        return len(units) == 1 and (result.unit in units or (units == {"%"} and result.unit == "points"))
    return len(units) == 1 and result.unit in ("", "x", "%") if sign == "/" else units == {""} and result.unit == ""


def _shares(signed: Signed) -> Iterator[Finding]:
    """`k of n (p %)` and `p % (k of n)`; a percentage cut instead of rounded counts as right."""
    for match in (*_SHARE.finditer(signed.text), *_OF_SHARE.finditer(signed.text)):
        count, of, percent = (signed.number(match[name]) for name in "knp")
        whole = not count.unit and not of.unit and count.decimals <= 0 and of.decimals <= 0
        if percent.unit != "%" or not whole or not 0 <= count.value <= of.value or not of.value:
            continue
        share, half = 100 * count.value / of.value, percent.loose.width / 2 + percent.interval.width / 2
        if count.text[0] not in "+-" and abs(share - percent.value) > half * (1 + 1e-9):
            expected = f"{share:.{max(0, percent.decimals) + 1}f} %"
            signs = match["k"] + match["n"] + match["p"]
            yield signed.finding(signs, expected, "the share of the two counts", FORMULAS["share"])


def _changes(signed: Signed) -> Iterator[Finding]:
    """A change in percent, times or points beside the two numbers that it is between."""
    for match in _ENDS.finditer(signed.text):
        one, two, before = signed.number(match["a"]), signed.number(match["b"]), signed.text[: match.start()]
        arrow = match["gap"].strip() in ("to", "→", "->", "⟶")
        if (match["gap"].strip() == "to" and not _FROM.search(before)) or "bound" in (one.qualifier, two.qualifier):
            continue
        if one.unit not in ("", two.unit) or (one.decimals != two.decimals and not two.unit):
            continue
        if min(one.loose.low, two.loose.low) <= 0 or (not two.unit and _NAME.search(before)):
            continue
        lead = _LEADS.search(before) if arrow else None
        in_brackets = _BRACKETS.search(before) if signed.text[match.end() : match.end() + 1] == ")" else None
        lead = lead or (in_brackets if in_brackets and _CUE.search(in_brackets[0]) else None)
        beside = _BESIDE.match(signed.text, match.end())
        changes = [(each["c"], signed.number(each["c"])) for each in (lead, beside) if each]
        changes = [each for each in changes if each[1].unit in ("%", "x", "points") and each[1].qualifier != "bound"]
        if len(changes) != 1 or (match["gap"].strip() not in ("→", "->") and not _CUE.search(signed.text)):
            continue
        sign, change = changes[0]
        if not re.match(r"\s?(?:CI|confidence)", signed.sentence.text[change.end :]):
            yield from _judged(signed, one, two, change, match["a"] + match["b"] + sign)


def _judged(signed: Signed, one: Number, two: Number, change: Number, signs: str) -> Iterator[Finding]:
    rise, fall = ratio(two.loose, one.loose), ratio(one.loose, two.loose)
    points = [two.loose - one.loose, one.loose - two.loose]
    hundredfold = [each * 100 for each in points] if max(one.value, two.value) <= 1 else []
    if change.unit == "%":
        readings = [(each - 1) * sign for each in (rise, fall) for sign in (100, -100)] + [rise * 100, fall * 100]
        readings += hundredfold + (points if "%" in (one.unit, two.unit) or max(one.value, two.value) <= 100 else [])
    else:
        readings = [rise, fall, rise - 1, fall - 1] if change.unit == "x" else points + hundredfold
    # cut instead of rounded, it is up to a whole unit below
    size, half = abs(change.loose.middle), change.loose.width / 2
    printed = Interval(size - half, size + half + change.interval.width / 2)
    fits = [other for other in signed.sentence.numbers if other.unit == change.unit and other not in (one, two, change)]
    if not any(meets(each, printed) or any(meets(each, other.loose) for other in fits) for each in readings):
        nearest = min(readings, key=lambda each: abs(each.middle - abs(change.value)))
        unit = {"%": " %", "x": " x"}.get(change.unit, " points")
        why = f"no reading of {one.text} and {two.text} gives {change.text}: not of either base, nor as points or ratio"
        yield signed.finding(signs, spread(nearest) + unit, why)
