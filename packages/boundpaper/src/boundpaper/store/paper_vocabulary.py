"""Read a paper's vocabulary: printed names of keys in its data, and looks in its figures.

`paper/vocabulary.yaml` and every part of it are optional; the engine itself knows no metric, subject or
look of a paper. A build step that reads the file runs again when the file changes.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError, SpecError
from boundpaper.places import project
from boundpaper.store.files import stamp_of
from boundpaper.store.looks import LOOK
from boundpaper.store.paths import SOURCES, VOCABULARY
from boundpaper.store.pattern import pattern_fault
from boundpaper.store.rules import BrokenRule, Rule, by_name, listed, mapping, matching, number, one_of, require, text
from boundpaper.store.text_file import text_of, yaml_in
from boundpaper.suggestions import or_known, suggest

METRIC = "metric"  # the kind of the keys that name quantities


def _check_expression(value: Any) -> BrokenRule | None:
    """Rule: check that the value is a regular expression that cannot backtrack catastrophically."""
    if broken := text(value):
        return broken
    return BrokenRule("", f"{value!r} {fault}") if (fault := pattern_fault(value)) else None


def _check_replacement(value: Any) -> BrokenRule | None:
    """Rule: check that the value has `find`, an expression, and `show`, which only refers to groups of `find`."""
    if broken := mapping({"find": _check_expression, "show": text}, ("find", "show"))(value):
        return broken
    try:
        re.sub(value["find"], value["show"], "")
    except (re.error, IndexError) as error:
        return BrokenRule(".show", f"{value['show']!r} does not fit `find` ({error})")
    return None


_TABLE = matching(r"[\w-]+", "is not the name of a table in artifacts/sources")
_NAMED = mapping({"key": text, "name": text}, ("key", "name"))
_LABELS = mapping({"table": _TABLE, "key": text, "label": text, "like": text}, ("table", "key", "label"))
_FAMILIES = mapping(
    {"table": _TABLE, "members": _TABLE, "column": text, "labels": _LABELS}, ("table", "members", "column")
)
RULE: Rule = mapping(  # rule for the content of the file
    {
        "words": by_name(by_name(text)),
        "numbers": by_name(number),
        "stated_of": by_name(one_of("heading", "phrase")),
        "headlines": listed(text),
        "ledger": listed(_check_replacement),
        "entities": by_name(mapping(LOOK, ("color",))),
        "named": by_name(_NAMED),
        "families": _FAMILIES,
    }
)


@dataclass(frozen=True)
class NamedTable:
    """A source table whose rows have printed names."""

    table: str
    key: str
    name: str


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The content of `paper/vocabulary.yaml`.

    Attributes
    ----------
    words : mapping of str to mapping of str to str
        Printed words of each key, by kind of key (`metric`, `mode`); the words may contain `$math$`.
    numbers : mapping of str to float
        Words that mean a number in stated values (`bilingual: 2`), in addition to `zero` to `ten`.
    stated_of : mapping of str to str
        Columns that name the subject of a stated value, each with the form of its cells: a `heading` begins with a
        capital letter, a `phrase` does not.
    headlines : tuple of str
        Titles of further sections whose statements are headlines, besides abstracts, summaries and conclusions.
    ledger : tuple of (str, str)
        Regular expressions with their replacements in the printed ledger, applied in order.
    entities : mapping of str to mapping of str to str
        Looks in figures by entity, as in `boundpaper.figures.style.Style`.
    named : tuple of NamedTable
        Source tables with the names of the paper's subjects.
    families : mapping
        The tables that define the looks of families in figures; empty if the paper has no families.
    """

    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    stated_of: Mapping[str, str] = field(default_factory=dict)
    headlines: tuple[str, ...] = ()
    ledger: tuple[tuple[str, str], ...] = ()
    entities: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    named: tuple[NamedTable, ...] = ()
    families: Mapping[str, Any] = field(default_factory=dict)

    def tables(self) -> Iterator[str]:
        """Yield the files of the tables that the vocabulary names, relative to the project."""
        names = [table.table for table in self.named]
        if self.families:
            names += [self.families["table"], self.families["members"]]
            names += [self.families["labels"]["table"]] if "labels" in self.families else []
        yield from dict.fromkeys(f"{SOURCES}/{name}.csv" for name in names)


EMPTY = Vocabulary()


def read(root: Path) -> Vocabulary:
    """Return the vocabulary of a project; empty if the file is absent.

    Raises DataError when the file is not YAML, or has an invalid key or value.
    """
    try:
        return _read_vocabulary(root, stamp_of(root / VOCABULARY))
    except FileNotFoundError:
        return EMPTY


@functools.lru_cache(maxsize=8)
def _read_vocabulary(root: Path, stamp: tuple[int, int]) -> Vocabulary:
    return _vocabulary_of_text(text_of(root, VOCABULARY))


def _vocabulary_of_text(file_text: str) -> Vocabulary:
    """Return the vocabulary in a file's text; empty for a file of only comments."""
    content = yaml_in(file_text, VOCABULARY)
    if content is None:
        return EMPTY
    require(content, RULE, VOCABULARY)
    named_tables = tuple(NamedTable(table, **columns) for table, columns in content.get("named", {}).items())
    families = content.get("families", {})
    if families and families["members"] not in content.get("named", {}):
        raise DataError(
            f"{VOCABULARY}: families.members: {families['members']!r} is not a table of `named`; add it and its columns"
            f"{or_known(families['members'], content.get('named', {}))}"
        )
    return Vocabulary(
        words=content.get("words", {}),
        numbers=content.get("numbers", {}),
        stated_of=content.get("stated_of", {}),
        headlines=tuple(content.get("headlines", ())),
        ledger=tuple((replacement["find"], replacement["show"]) for replacement in content.get("ledger", ())),
        entities=content.get("entities", {}),
        named=named_tables,
        families=families,
    )


def tables_named(file_text: str) -> list[tuple[str, str, int]]:
    """Return the tables that a vocabulary's text names, each in the form of a template's call: ("table", file, 0).

    Raises SpecError when the text is not a vocabulary.
    """
    try:
        return [("table", path, 0) for path in _vocabulary_of_text(file_text).tables()]
    except DataError as error:
        raise SpecError(str(error)) from None


def vocabulary() -> Vocabulary:
    """Return the vocabulary of the open project; empty if no project is open."""
    try:
        root = project()
    except DataError:
        return EMPTY
    return read(root)


def words(kind: str) -> Mapping[str, str]:
    """Return the printed words of all keys of a kind, in the order of the file.

    Raises DataError when the vocabulary lacks the kind.
    """
    words_by_kind = vocabulary().words
    if kind not in words_by_kind:
        known_kinds = or_known(kind, words_by_kind)
        raise DataError(f"no words for the keys of the kind {kind!r}: add the words to {VOCABULARY}{known_kinds}")
    return words_by_kind[kind]


def printed_word(kind: str, key: str) -> str:
    """Return the printed name of a key, as in `printed_word("metric", "weight")`.

    Raises DataError when the vocabulary lacks the kind or the key.
    """
    names_by_key = words(kind)
    if key not in names_by_key:
        raise DataError(
            f"no words for the {kind} {key!r}: {suggest(key, names_by_key)}add them to {VOCABULARY}, words.{kind}"
        )
    return names_by_key[key]


def metric_names(vocabulary: Vocabulary) -> dict[str, str]:
    """Return printed names of metrics by key; omit keys without `_` (common words), and names with a formula."""
    return {key: name for key, name in vocabulary.words.get(METRIC, {}).items() if "_" in key and "$" not in name}


def names_of(rows: Sequence[Mapping[str, Any]], table: NamedTable) -> dict[str, str]:
    """Return printed names by key, from the rows of a table that have both a key and a name."""
    return {row[table.key]: row[table.name] for row in rows if row.get(table.key) and row.get(table.name)}
