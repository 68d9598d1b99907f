"""Regular expressions applied to users' text take time at most linear in its length."""

import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest
import yaml

import patterns
from analysis.claims.s000 import layers
from analysis.studies.population import _retrained
from boundpaper.figures.matplotlib import words
from boundpaper.paper import metadata
from boundpaper.paper.tex import hints
from boundpaper.store import paper_vocabulary, standard_words
from keyquery.tasks import answers


def schema_patterns() -> list[str]:
    """Return the patterns that the data package prescribes for cells."""
    files = [patterns.ROOT / "artifacts/datapackage.yaml", *patterns.ROOT.glob("packages/*/src/*/tables.yaml")]
    texts = "".join(path.read_text(encoding="utf-8") for path in files)
    return [yaml.safe_load(text) for text in re.findall(r"pattern: (\"[^\"]*\")", texts)]


UNLISTED = patterns.collected({})[1]
STANDS_BY_ITSELF = next(key for key in UNLISTED if "(?<!\\\\s-){thousands}" in key)
LINT_OF_NAMES = next(key for key in UNLISTED if key.startswith("packages/boundpaper/src/boundpaper/paper/lint.py: "))
ADOPTED_COMMANDS = next(key for key in UNLISTED if "adopt/source.py: " in key)
WORDS = ("the old mill", "  ", "a", "nonnegative 1.5 numbers, (all) of them")
NUMBERS = ("0", "12.5", "100,000", "-3", "1.2.3")
LEDGER = [pattern for pattern, _ in paper_vocabulary.read(patterns.ROOT).ledger]
KEYS = ("ap_drop", "llama-3.1-8b", "002", "a.b")

MADE: dict[str, Iterable[str]] = {
    "analysis/studies/population/_retrained.py: pattern": _retrained._SIDES,
    "packages/boundpaper/src/boundpaper/claims/typeset.py: pattern": LEDGER,
    "packages/boundpaper/src/boundpaper/store/paper_vocabulary.py: value['find']": LEDGER,
    "analysis/claims/s000/layers.py: word": layers.EXTREMES,
    "packages/keyquery/src/keyquery/experiments/_anchoring/words.py: pattern": [
        r"(?<!\w)" + r"\s+".join(map(re.escape, word.split())) + r"(?!\w)" for word in WORDS if word.split()
    ],
    "packages/keyquery/src/keyquery/tasks/answers.py: BEFORE + words + AFTER": [
        answers.BEFORE + r"\s+".join(map(re.escape, word.split())) + answers.AFTER for word in WORDS if word.split()
    ],
    "packages/boundpaper/src/boundpaper/build/new_paper.py: pattern": ["@title@|@plain@|@name@"],
    "packages/boundpaper/src/boundpaper/store/rules.py: pattern": [
        metadata.ORCID,
        metadata.ROR,
        standard_words._STANDARD,
        "(?i)utf-?8",
    ],
    STANDS_BY_ITSELF: [rf"(?<!\w)(?<!\d\.)(?<!\s-)(?<!\d,){re.escape(piece)}(?!\w)(?![.,]\d)" for piece in NUMBERS],
    r"packages/boundpaper/src/boundpaper/adopt/flatten.py: f'\\b{package}\\b'": [r"\bmulticolumn\b"],
    r"packages/boundpaper/src/boundpaper/paper/site/latex.py: f'\\\\(begin|end)\\{{{re.escape(kind)}\\}}'": [
        r"\\(begin|end)\{tabular\*\}"
    ],
    r"packages/boundpaper/src/boundpaper/store/sentences.py: f'\\bFig(?:ure|\\.) {figure[1]}\\b'": [
        r"\bFig(?:ure|\.) 3\b"
    ],
    "packages/boundpaper/src/boundpaper/store/validation.py: pattern": schema_patterns(),
    "packages/boundpaper/src/boundpaper/typeset/wording.py: pattern": [
        rf"(?<![\w/.-])({'|'.join(map(re.escape, KEYS))})(?![\w/]|[-.]\w)"
    ],
    "packages/boundpaper/src/boundpaper/figures/matplotlib/words.py: re.escape(command) + '(?![A-Za-z])'": [
        re.escape(command) + "(?![A-Za-z])" for command in words._EQUIVALENTS
    ],
    "packages/boundpaper/src/boundpaper/paper/annotate/build.py: pattern": metadata.read(patterns.ROOT).names,
    "packages/boundpaper/src/boundpaper/paper/annotate/copies.py: f'{re.escape(key)}(?![0-9A-Za-z])'": [
        f"{re.escape(key)}(?![0-9A-Za-z])" for key in KEYS
    ],
    "packages/boundpaper/src/boundpaper/paper/bibliography/names.py: f'[{{}}]|{separator}'": [
        r"[{}]|(?<!\s)\s+and(?=\s)",
        "[{}]|,",
    ],
    r"packages/boundpaper/src/boundpaper/adopt/generate.py: '[^/]+'.join(map(re.escape, re.split('#\\d', address)))": [
        "results/[^/]+/acc",
        "[^/]+/[^/]+[^/]+",
    ],
    r"packages/boundpaper/src/boundpaper/adopt/numerals.py: f'(?<!\\w)(?:{name})(?!\\w)'": [
        rf"(?<!\w)(?:{name})(?!\w)" for name in metadata.read(patterns.ROOT).names
    ],
    ADOPTED_COMMANDS: [r"\\(val|rows|bound\w\w)(?![A-Za-z@])(?:\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\})?"],
    LINT_OF_NAMES: ["|".join(f"(?:{item})" for item in metadata.read(patterns.ROOT).names)],
    "packages/boundpaper/src/boundpaper/paper/tex/hints.py: pattern": [pattern for pattern, _ in hints._HINTS],
}
"""By file and expression: all patterns that a function can build, or samples of them."""

LENGTH = 100_000
LIMIT_S = 1.0
SHORT = 3_000
HARMLESS_S = LIMIT_S * (SHORT / LENGTH) ** 2 / 4
"""A pattern below this time at `SHORT` is below the limit at `LENGTH`, even if its time grows with the square."""


class TooSlow(Exception):
    """A pattern took longer than the limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop code after `seconds` of this process's own time, which a busy machine does not lengthen."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def search_function(pattern: patterns.Pattern) -> Callable[[str], object]:
    compiled = re.compile(pattern.text, pattern.flags)
    use = pattern.use.removeprefix("str.")
    if use in ("match", "fullmatch"):
        search: Callable[[str], object] = getattr(compiled, use)
        return search
    return lambda text: deque(compiled.finditer(text), maxlen=0)


def is_slow(function: Callable[[str], object], text: str, limit: float) -> bool:
    """Return whether a function of a text takes at least `limit` seconds of CPU time in each of two tries."""
    for _ in range(2):  # a pause of a busy machine can count as time of the process
        start = time.process_time()
        try:
            with time_limit(max(limit, 0.05)):  # the clock of the limit counts in steps of some milliseconds
                function(text)
        except TooSlow:
            continue
        if time.process_time() - start < limit:
            return False
    return True


def slowest(pattern: patterns.Pattern) -> str:
    """Return a description of a text of 100,000 characters that takes more than a second, or an empty string."""
    function = search_function(pattern)
    for start, part in patterns.attacks(pattern):
        for end in ("", "\0"):
            short, long = (start + part * (length // len(part) + 1) + end for length in (SHORT, LENGTH))
            if is_slow(function, short, HARMLESS_S) and is_slow(function, long, LIMIT_S):
                return f"{start[:20]!r}, {part[:20]!r} again and again, {end!r}"
    return ""


def test_every_regex_scans_a_hundred_thousand_characters_in_a_second() -> None:
    actual, unknown = patterns.collected(MADE)
    assert len(actual) > 200
    assert not unknown, "list samples of these patterns in MADE"
    distinct = {(pattern.text, pattern.flags, pattern.use): pattern for pattern in actual}.values()
    assert not [f"{pattern}: {text}" for pattern in distinct if (text := slowest(pattern))]


@pytest.mark.parametrize("text", [r"(?:'[^']*'|.)*?>>", r"\s*x", r"(a+)+b", r"<<.*?>>"])
def test_slow_regex_is_found(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "LIMIT_S", 0.2)
    assert slowest(patterns.Pattern("here", 1, "search", text, re.DOTALL))
