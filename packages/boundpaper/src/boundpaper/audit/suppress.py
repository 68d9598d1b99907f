"""Suppressed findings: a YAML file that gives a reason for each; an entry that matches nothing is an error.

- id: 1f0c2a9b
kind: total
printed: Total = 97 of votes
reason: Three votes were invalid; the sentence below the table says so and names them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from boundpaper.audit.finding import Finding
from boundpaper.errors import DataError
from boundpaper.store.text_file import yaml_of

FIELDS = ("id", "kind", "printed", "reason")
FEWEST_WORDS = 5
"""Words of a reason, fewer than which give none."""


def read(file: str) -> dict[str, Mapping[str, str]]:
    """The entries by their ids.

    Raises
    ------
    DataError
        The file is absent or malformed, an entry lacks a field, a reason has too few words, an id appears twice.
    """
    try:
        held = yaml_of(Path(), file)
    except FileNotFoundError:
        raise DataError(f"{file}: no such file; give the file of suppressions, or leave --baseline out") from None
    entries: dict[str, Mapping[str, str]] = {}
    if not isinstance(held, list | type(None)):
        raise DataError(f"{file}: a list of entries is expected, each with {', '.join(FIELDS)}")
    for place, entry in enumerate(held or (), 1):
        if not isinstance(entry, dict) or set(entry) != set(FIELDS):
            raise DataError(f"{file}: entry {place}: give {', '.join(FIELDS)}, and nothing else")
        words = {key: str(value).strip() for key, value in entry.items()}
        if len(words["reason"].split()) < FEWEST_WORDS:
            told = f"the reason {words['reason']!r} is short; say in {FEWEST_WORDS} words or more why"
            raise DataError(f"{file}: entry {place}: {told}")
        if words["id"] in entries:
            raise DataError(f"{file}: entry {place}: {words['id']} appears twice; keep one entry")
        entries[words["id"]] = words
    return entries


def parted(
    findings: Sequence[Finding], entries: Mapping[str, Mapping[str, str]], file: str
) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """Split findings into those that remain and those that an entry suppresses, with the reason.

    Raises
    ------
    DataError
        An entry has no finding any more, or says another kind or print than its finding.
    """
    by_id = {each.id: each for each in findings}
    for key, entry in entries.items():
        found = by_id.get(key)
        if found is None:
            raise DataError(f"{file}: {key} ({entry['printed']}) is no longer found; remove the entry")
        if (entry["kind"], entry["printed"]) != (found.kind, found.what):
            raise DataError(f"{file}: {key} is [{found.kind}] {found.what}; write its kind and the printed text so")
    left = [each for each in findings if each.id not in entries]
    return left, [(each, entries[each.id]["reason"]) for each in findings if each.id in entries]
