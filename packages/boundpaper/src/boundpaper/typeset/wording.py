"""Write phrases for tables and figures: shortened names, ledger texts, test results, lists.

Each function returns prose (`boundpaper.typeset.text.prose`) for captions, notes, headings and labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from boundpaper.typeset.numbers import fixed, integer, pvalue

if TYPE_CHECKING:
    import pandas as pd

SYMBOLS: Mapping[str, str] = {
    "r": "r",
    "rho": r"\rho",
    "tau_b": r"\tau_b",
    "partial_r": r"r_{\mathrm{partial}}",
    "within_family_r": r"r_{\mathrm{within}}",
    "difference_of_absolute_correlations": r"\Delta|r|",
}
"""Printed symbols of effect sizes, as mathematics."""


def abbreviated_names(names: Iterable[str], longest: int) -> dict[str, str]:
    """Return each name cut in its middle to `longest` characters, or more to stay distinct: `reader2-13…b179c952`."""
    lengths = dict.fromkeys(names, longest)
    while True:
        abbreviations = {name: _without_middle(name, length) for name, length in lengths.items()}
        counts = Counter(abbreviations.values())
        ambiguous = [name for name, abbreviation in abbreviations.items() if counts[abbreviation] > 1]
        if not ambiguous:
            return abbreviations
        lengths |= {name: lengths[name] + 1 for name in ambiguous}


def _without_middle(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end_length = (longest - 1) // 2
    return f"{name[: longest - 1 - end_length]}…{name[len(name) - end_length :]}"


def readable_text(text: str, names: Mapping[str, str]) -> str:
    """Return a ledger text for readers, with keys replaced by names, and underscores in words by spaces.

    `names` maps keys to printed names. A key is replaced only if it is a whole word; its dots may be absent.
    """
    if names:
        name_by_key, pattern = _key_pattern(tuple(names.items()))
        text = re.sub(pattern, lambda match: name_by_key[match[1]], text)
    return _UNDERSCORES.sub(lambda match: match[0].replace("_", " "), text)


@lru_cache(maxsize=8)
def _key_pattern(names: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], str]:
    """Return names by key, with each key both with and without its dots, and a pattern that finds any of these keys."""
    name_by_key = {**{key.replace(".", ""): name for key, name in names}, **dict(names)}
    longest_first = sorted(name_by_key, key=len, reverse=True)
    return name_by_key, rf"(?<![\w/.-])({'|'.join(map(re.escape, longest_first))})(?![\w/]|[-.]\w)"


_UNDERSCORES = re.compile(r"(?<![\w/.])[A-Za-z]++[a-z0-9]*+(?:_[a-z0-9]++)++(?![\w/]|\.\w)")


def correlation_phrase(row: pd.Series, digits: int = 2) -> str:
    """Return a correlation without parts that are NaN: `$r = -0.67$ $[-0.95, 0.16]$, $p = 0.067$, Holm $p = 0.486$`."""
    show, p = fixed(digits), pvalue(relation=True)
    phrase = f"${SYMBOLS[row['effect_name']]} = {show.show(row['estimate'], 'plain')}$"
    if row["ci_low"] == row["ci_low"] and row["ci_high"] == row["ci_high"]:
        phrase += f" $[{show.show(row['ci_low'], 'plain')}, {show.show(row['ci_high'], 'plain')}]$"
    if row["p_value"] == row["p_value"]:
        phrase += f", $p {p.show(row['p_value'], 'plain')}$"
    if row["p_adjusted"] == row["p_adjusted"]:
        phrase += f", Holm $p {p.show(row['p_adjusted'], 'plain')}$"
    return phrase


def listed(words: Sequence[str]) -> str:
    """Return words as a list in prose: `a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def whole(count: object) -> str:
    """Return a whole number with commas between thousands."""
    return integer().show(count, "plain")
