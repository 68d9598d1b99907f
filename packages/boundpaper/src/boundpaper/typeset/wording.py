"""Word parts of tables and figures: short names, texts of the ledger, a test in one phrase, lists.

All of it is prose (`boundpaper.typeset.text.prose`), for captions, notes, headings and labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
"""Effect names as mathematics."""


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Shorten names to at most `most` characters by leaving out the middle (`smollm2-13…b179c952`).

    Where two would be alike, they keep more.
    """
    full = list(dict.fromkeys(names))
    kept = dict.fromkeys(full, most)
    while True:
        short = {name: _without_middle(name, kept[name]) for name in full}
        alike = [name for name in full if list(short.values()).count(short[name]) > 1]
        if not alike:
            return short
        kept |= {name: kept[name] + 1 for name in alike}


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def readable_text(text: str, names: Mapping[str, str]) -> str:
    """Return a text of the ledger for readers: keys become names, underscores become spaces.

    `names` are names in print by key; keys are matched as whole words, with or without their dots.
    """
    known = {**{key.replace(".", ""): name for key, name in names.items()}, **names}
    if known:
        longest = sorted(known, key=len, reverse=True)
        pattern = rf"(?<![\w/.-])({'|'.join(map(re.escape, longest))})(?![\w/]|[-.]\w)"
        text = re.sub(pattern, lambda match: known[match[1]], text)
    return _UNDERSCORES.sub(lambda match: match[0].replace("_", " "), text)


_UNDERSCORES = re.compile(r"(?<![\w/.])[A-Za-z]++[a-z0-9]*+(?:_[a-z0-9]++)++(?![\w/]|\.\w)")


def correlation_phrase(row: pd.Series, digits: int = 2) -> str:
    """Return a correlation as a phrase, no part empty: `$r = -0.67$ $[-0.95, 0.16]$, $p = 0.067$, Holm $p = 0.486$`."""
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
    """Join names: `a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def whole(count: object) -> str:
    """Return a whole number with separators."""
    return integer().show(count, "plain")
