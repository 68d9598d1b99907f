"""Define rules that check the content of YAML and JSON files key by key, and say what is wrong.

A rule is a function of a value. It returns None if the value is valid, else the path from the value to the fault
(`.fields[height].format`) and what is wrong there. `mapping` combines rules by key, and rejects unknown keys: a
misspelt key is reported with the nearest name, never ignored.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from boundpaper.errors import DataError, ThesisError
from boundpaper.suggestions import or_known

LONGEST = 80  # most characters of a value that a message quotes


class BrokenRule(NamedTuple):
    """The path from a value to the fault in it, and what is wrong there."""

    path: str
    words: str


Rule = Callable[[Any], "BrokenRule | None"]


def require(content: Any, rule: Rule, place: str, error: type[ThesisError] = DataError) -> None:
    """Raise `error`, with the text `PLACE: PATH: what is wrong`, if the content of a file breaks a rule.

    `place` names the file in the message, and if `content` is only a part of the file, it also names this part.
    """
    if broken := rule(content):
        path = broken.path.removeprefix(".")
        raise error(f"{place}: {path}: {broken.words}" if path else f"{place}: {broken.words}")


def quoted(value: object) -> str:
    """Return a value quoted for a message, cut to `LONGEST` characters."""
    words = str(value) if isinstance(value, date) else repr(value)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."


def anything(value: Any) -> BrokenRule | None:
    """Rule: accept any value."""
    return None


def text(value: Any) -> BrokenRule | None:
    """Rule: check that the value is text."""
    return None if isinstance(value, str) else BrokenRule("", f"{quoted(value)} is not a text; put it in quotes")


def flag(value: Any) -> BrokenRule | None:
    """Rule: check that the value is true or false."""
    return None if isinstance(value, bool) else BrokenRule("", f"{quoted(value)} is neither true nor false")


def at_least(minimum: int) -> Rule:
    """Return a rule for whole numbers of at least `minimum`."""

    def rule(value: Any) -> BrokenRule | None:
        is_valid = isinstance(value, int) and not isinstance(value, bool) and value >= minimum
        return None if is_valid else BrokenRule("", f"{quoted(value)} is not a whole number of at least {minimum}")

    return rule


whole = at_least(0)


def number(value: Any) -> BrokenRule | None:
    """Rule: check that the value is a finite number."""
    if broken := number_or_infinite(value):
        return broken
    return None if math.isfinite(value) else BrokenRule("", f"{quoted(value)} is not a finite number")


def number_or_infinite(value: Any) -> BrokenRule | None:
    """Rule: check that the value is a number or an infinity, which is the end of an open range."""
    is_valid = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if is_valid else BrokenRule("", f"{quoted(value)} is not a number")


def not_negative(value: Any) -> BrokenRule | None:
    """Rule: check that the value is a finite number of at least 0."""
    return number(value) or (None if value >= 0 else BrokenRule("", f"{quoted(value)} is below 0"))


def positive(value: Any) -> BrokenRule | None:
    """Rule: check that the value is a finite number above 0."""
    return number(value) or (None if value > 0 else BrokenRule("", f"{quoted(value)} is not above 0"))


def one_of(*values: Any, mend: str = "") -> Rule:
    """Return a rule that allows only `values`; `mend` is the advice in the message on other values."""
    advice = mend or f"it is one of {', '.join(map(str, values))}"

    def rule(value: Any) -> BrokenRule | None:
        is_allowed = any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in values)
        return None if is_allowed else BrokenRule("", f"{quoted(value)} is not supported; {advice}")

    return rule


def matching(pattern: str, words: str) -> Rule:
    """Return a rule for texts that match a regular expression; `words` is the message for other texts."""
    regex = re.compile(pattern)

    def rule(value: Any) -> BrokenRule | None:
        is_valid = isinstance(value, str) and regex.fullmatch(value)
        return None if is_valid else BrokenRule("", f"{quoted(value)} {words}")

    return rule


def unsupported(mend: str) -> Rule:
    """Return a rule that rejects any value of an unsupported property; `mend` is the advice in the message."""
    return lambda value: BrokenRule("", f"a property of the standard that is not supported here; {mend}")


def listed(member_rule: Rule) -> Rule:
    """Return a rule for lists whose members satisfy `member_rule`; the path names a member by its `name`, if any."""

    def rule(value: Any) -> BrokenRule | None:
        if not isinstance(value, list):
            return BrokenRule("", f"{quoted(value)} is not a list")
        for index, member in enumerate(value):
            if broken := member_rule(member):
                name = member.get("name") if isinstance(member, dict) else None
                return BrokenRule(f"[{name if isinstance(name, str) else index}]{broken.path}", broken.words)
        return None

    return rule


def either(*rules: Rule) -> Rule:
    """Return a rule for values that satisfy any of `rules`; if none is satisfied, the fault of the last is reported."""

    def rule(value: Any) -> BrokenRule | None:
        broken_rules = [alternative(value) for alternative in rules]
        return None if None in broken_rules else broken_rules[-1]

    return rule


def by_name(member_rule: Rule) -> Rule:
    """Return a rule for mappings from any text to values that satisfy `member_rule`."""

    def rule(value: Any) -> BrokenRule | None:
        if not isinstance(value, dict):
            return BrokenRule("", f"{quoted(value)} is not a mapping of names to values")
        for name, member in value.items():
            if broken := text(name) or member_rule(member):
                return BrokenRule(f".{name}{broken.path}", broken.words)
        return None

    return rule


def mapping(
    keys: Mapping[str, Rule], required: Sequence[str] = (), *, with_colon: bool = False, any_key: bool = False
) -> Rule:
    """Return a rule for mappings with known keys.

    `keys` maps each key to its rule, and `required` lists required keys. `with_colon` allows unknown keys with a colon
    (`dc:subject`), which belong to other vocabularies. `any_key` allows all unknown keys, for files that other programs
    also read.
    """

    def rule(value: Any) -> BrokenRule | None:
        if not isinstance(value, dict):
            return BrokenRule("", f"{quoted(value)} is not a mapping of keys to values")
        for key, content in value.items():
            if key not in keys:
                if any_key or (with_colon and isinstance(key, str) and ":" in key.strip(":")):
                    continue
                return BrokenRule("", f"unknown key {quoted(key)}{or_known(str(key), keys)}")
            if broken := keys[key](content):
                return BrokenRule(f".{key}{broken.path}", broken.words)
        missing = [key for key in required if key not in value]
        return BrokenRule("", f"the required key `{missing[0]}` is missing") if missing else None

    return rule
