"""Run all checks on documents, and count the tables, sentences and numbers that were read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

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
"""The checks, each with the kinds of its findings; of two equal findings, that of the earlier check is kept."""
NOTES = ("arithmetic", "caption-number", "reference", "rows", "same-quantity", "statistic")
"""Kinds of findings that are only notes, since most of them were false."""
KINDS = sorted(kind for kinds in CHECKS.values() for kind in kinds)


def audit(documents: Sequence[ReadDocument], *, joint: bool = False, only: Sequence[str] = ()) -> list[Finding]:
    """Return the findings in documents, sorted by file and line.

    `only` are the kinds to search for, by default all. With `joint`, all documents are compared as one document, except
    for the numbers of sections, captions and references.
    """
    findings: dict[tuple[str, int, str], Finding] = {}
    for check, kinds in CHECKS.items():
        if only and not set(kinds) & set(only):
            continue
        units = [joined(documents)] if joint and documents and check is not structure.check else documents
        for finding in (finding for document in units for finding in check(document)):
            if not only or finding.kind in only:
                finding = replace(finding, level="note") if finding.kind in NOTES else finding
                findings.setdefault((finding.place.file, finding.place.line, finding.what), finding)
    return sorted(
        findings.values(),
        key=lambda finding: (finding.place.file, finding.place.line, LEVELS.index(finding.level)),
    )


def coverage(documents: Sequence[ReadDocument]) -> dict[str, int]:
    """Return counts of what was read.

    `quantities` counts the numbers in sentences, and `untied` those of them that no table contains.
    """
    tables = [table for document in documents for table in document.tables]
    cells = [number.value for table in tables for column in table.columns for number in column.numbers if number]
    sentences = [sentence.numbers for document in documents for sentence in document.sentences if sentence.numbers]
    quantities = [number.value for numbers in sentences for number in numbers]
    known_values = set(cells)
    return {
        "tables": sum(table.kind == "table" for table in tables), "cells": len(cells),
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
