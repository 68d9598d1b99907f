"""Render the Markdown lines of a copy as HTML, with judged statements and numbers in colour."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from boundpaper.paper.annotate.copies import DocumentCopy
from boundpaper.paper.annotate.coverage import BESIDE, JUDGED, OPEN, Coverage, CoveredSentence
from boundpaper.paper.site.page import slug

WORST = ("contradicted", "not supported", "not testable", "not significant", "holds after rounding", "holds")
_MARKS = re.compile(r"\*\*|`")
_HEADING = re.compile(r"^(#{1,6})\s+")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+")
_RULE = re.compile(r"^(?=[\s:|]*-)[\s:|-]*$")


@dataclass(frozen=True)
class CopyBlock:
    """A block of a copy: first line, kind, HTML, and the rows that judge statements in it."""

    number: int
    kind: str
    html: Markup
    rows: tuple[Mapping[str, Any], ...]


def copy_blocks(copy: DocumentCopy, coverage: Coverage) -> Iterator[CopyBlock]:
    """Yield the blocks of a copy: headings, list items, lines of text, whole tables and whole code blocks."""
    stated: dict[int, list[CoveredSentence]] = {}
    for each in coverage.stated:
        stated.setdefault(each.sentence.line, []).append(each)
    number, count = 1, len(copy.lines)
    while number <= count:
        text = copy.lines[number - 1]
        last = number
        if text.lstrip().startswith("```"):
            while last < count and not copy.lines[last].lstrip().startswith("```"):
                last += 1
            last = min(last + 1, count)
            body = "\n".join(copy.lines[number - 1 : last])
            yield CopyBlock(number, "code", Markup("<pre>{}</pre>").format(body), ())
        elif text.lstrip().startswith("|"):
            while last < count and copy.lines[last].lstrip().startswith("|"):
                last += 1
            yield _table(copy, number, last, stated)
        elif text.strip():
            yield _text_block(text, number, stated.get(number, []))
        number = last + 1


def worst_verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the most serious verdict among rows."""
    return min((str(row["verdict"]) for row in rows), key=WORST.index)


def _text_block(text: str, number: int, parts: Sequence[CoveredSentence]) -> CopyBlock:
    heading, item = _HEADING.match(text), _ITEM.match(text)
    html = _marked(text, (heading or item).end() if heading or item else 0, len(text), parts)  # type: ignore[union-attr]
    if heading:
        level = min(len(heading[1]) + 1, 4)
        return CopyBlock(number, "heading", Markup(f"<h{level}>{{}}</h{level}>").format(html), _row_attributes(parts))
    if item:
        indent = Markup('<p class="item" style="margin-left:{}em">{} {}</p>')
        sign = item[0].strip() if item[0].strip()[0].isdigit() else "•"
        return CopyBlock(number, "item", indent.format(len(item[1]) // 2 + 1, sign, html), _row_attributes(parts))
    return CopyBlock(number, "text", Markup("<p>{}</p>").format(html), _row_attributes(parts))


def _table(copy: DocumentCopy, first: int, last: int, stated: Mapping[int, list[CoveredSentence]]) -> CopyBlock:
    body, parts = [], []
    ruled = last > first and _RULE.match(copy.lines[first])
    for number in range(first, last + 1):
        text = copy.lines[number - 1]
        if number > first and _RULE.match(text):
            continue
        own = stated.get(number, [])
        parts += own
        tag = "th" if ruled and number == first else "td"
        cells = [_marked(text, start, end, own) for start, end in _cell_extents(text)]
        wrapped = Markup("").join(Markup(f"<{tag}>{{}}</{tag}>").format(cell.strip()) for cell in cells)
        place = Markup(' id="L{}"').format(number) if number > first else ""
        body.append(Markup("<tr{}>{}</tr>\n").format(place, wrapped))
    table = Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="Table, line {}">'
        "<table><tbody>\n{}</tbody></table></div>"
    )
    return CopyBlock(first, "table", table.format(first, Markup("").join(body)), _row_attributes(parts))


def _cell_extents(text: str) -> list[tuple[int, int]]:
    """Return start and end of each cell in a line of a table."""
    bars = [match.start() for match in re.finditer(r"(?<!\\)\|", text)]
    ends = [*bars[1:], len(text)] if text.rstrip().endswith("|") is False else bars[1:]
    return [(start + 1, end) for start, end in zip(bars, ends, strict=False)]


def _row_attributes(parts: Sequence[CoveredSentence]) -> tuple[Mapping[str, Any], ...]:
    rows = [row for part in parts for row in (*part.rows, *(row for mark in part.marks for row in mark.rows))]
    return tuple({row["claim"]: row for row in rows}.values())


def _marked(text: str, start: int, end: int, parts: Sequence[CoveredSentence]) -> Markup:
    """Return a part of a line as HTML, with its sentences and numbers in colour."""
    markup, at = Markup(""), start
    for part in parts:
        low, high = max(part.start, start), min(part.start + len(part.sentence.text), end)
        if low >= high:
            continue
        markup += _without_markdown(text[at:low])
        inner = _mark_numbers(text, low, high, part)
        verdict = worst_verdict(part.rows) if part.rows else ""
        wrapped = Markup('<span class="judged v-{}">{}</span>').format(slug(verdict), inner) if verdict else inner
        markup += wrapped
        at = high
    return markup + _without_markdown(text[at:end])


def _mark_numbers(text: str, low: int, high: int, part: CoveredSentence) -> Markup:
    markup, at = Markup(""), low
    for mark in part.marks:
        start, end = part.start + mark.token.start, part.start + mark.token.end
        if start < low or end > high:
            continue
        markup += _without_markdown(text[at:start])
        if mark.state == JUDGED and not part.rows:
            names = ", ".join(row["claim"] for row in mark.rows)
            span = Markup('<span class="judged v-{}" title="{}">{}</span>')
            markup += span.format(slug(worst_verdict(mark.rows)), names, text[start:end])
        elif mark.state in (OPEN, BESIDE):
            title = (
                "no row of the ledger covers this number"
                if mark.state == OPEN
                else "the sentence is judged, but not this number"
            )
            markup += Markup('<span class="{}" title="{}">{}</span>').format(mark.state, title, text[start:end])
        else:
            markup += escape(text[start:end])
        at = end
    return markup + _without_markdown(text[at:high])


def _without_markdown(text: str) -> Markup:
    """Return text without Markdown marks for bold, italics and code."""
    return escape(_MARKS.sub("", text))
