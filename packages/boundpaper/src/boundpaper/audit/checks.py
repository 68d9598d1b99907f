"""Run all checks on documents, and count the tables, sentences and numbers that were read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from boundpaper.audit import arithmetic, relations, reported, rows, same, structure
from boundpaper.audit.documents import ReadDocument, joined
from boundpaper.audit.finding import LEVELS, Finding
from boundpaper.typeset.plural import counted

CHECKS: dict[Callable[[ReadDocument], Iterator[Finding]], tuple[str, ...]] = {
    structure.check: ("section-number", "caption-number", "reference"),
    relations.check: ("total", "relation"),
    same.check: ("same-quantity",),
    arithmetic.check: ("arithmetic",),
    reported.check: ("statistic",),
    rows.check: ("rows",),
}
NOTES = ("arithmetic", "caption-number", "reference", "rows", "same-quantity", "statistic")
"""Kinds of findings that become notes, since most findings of these kinds were false."""
KINDS = sorted(kind for kinds in CHECKS.values() for kind in kinds)


def audit(documents: Sequence[ReadDocument], *, joint: bool = False, only: Sequence[str] = ()) -> list[Finding]:
    """Return findings of the kinds in `only` (default: all), sorted by file and line; `joint` joins documents."""
    findings: dict[tuple[str, int, str], Finding] = {}
    for check, kinds in CHECKS.items():
        if only and not set(kinds) & set(only):
            continue
        is_joint = joint and documents and check is not structure.check
        for finding in chain.from_iterable(map(check, [joined(documents)] if is_joint else documents)):
            if not only or finding.kind in only:
                finding = replace(finding, level="note") if finding.kind in NOTES else finding
                findings.setdefault((finding.place.file, finding.place.line, finding.printed), finding)
    return sorted(findings.values(), key=lambda found: (found.place.file, found.place.line, LEVELS.index(found.level)))


def coverage(documents: Sequence[ReadDocument]) -> dict[str, int]:
    """Return counts of what was read; `untied` counts the numbers that stand in a sentence but in no table."""
    tables = [table for document in documents for table in document.tables]
    cell_values = [number.value for table in tables for column in table.columns for number in column.numbers if number]
    sentences = [sentence for document in documents for sentence in document.sentences if sentence.numbers]
    quantities = [number.value for sentence in sentences for number in sentence.numbers]
    known_values = set(cell_values)
    return {
        "tables": sum(table.kind == "table" for table in tables), "cells": len(cell_values),
        "figures": sum(table.kind == "figure" for table in tables),
        "sentences": len(sentences), "quantities": len(quantities),
        "relations": sum(len(relations.accepted(table)) for table in tables),
        "untied": sum(value not in known_values for value in quantities),
    }  # fmt: skip


def counts_in_words(counts: dict[str, int]) -> str:
    """Return the counts as one sentence."""
    nouns = {"cells": "number", "quantities": "number", "untied": "number"}
    phrases = {key: counted(count, nouns.get(key, key.removesuffix("s"))) for key, count in counts.items()}
    return (
        "read {tables} with {cells}, {figures} in code, {sentences} with {quantities}; {relations} of columns; "
        "{untied} of sentences are in no table and were not compared: silence about them proves nothing"
    ).format(**phrases)
