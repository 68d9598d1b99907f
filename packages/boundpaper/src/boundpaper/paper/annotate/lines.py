"""Render the Markdown lines of a copy as HTML, with judged statements and numbers in colour."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from boundpaper.paper.annotate.copies import DocumentCopy
from boundpaper.paper.annotate.coverage import BESIDE, JUDGED, OPEN, Coverage, CoveredSentence
from boundpaper.paper.site.page import slug

FROM_WORST = ("contradicted", "not supported", "not testable", "not significant", "holds after rounding", "holds")
TITLES = {OPEN: "no row of the ledger covers this number", BESIDE: "the sentence is judged, but not this number"}
_EMPHASIS = re.compile(r"\*\*|`")
_HEADING = re.compile(r"^(#{1,6})\s+")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+")
_HEADER_RULE = re.compile(r"^(?=[\s:|]*-)[\s:|-]*$")


@dataclass(frozen=True)
class CopyBlock:
    """A block of a copy: number of its first line, kind, HTML, and the rows that judge statements in it."""

    number: int
    kind: str
    html: Markup
    rows: tuple[Mapping[str, Any], ...]


def copy_blocks(copy: DocumentCopy, coverage: Coverage) -> Iterator[CopyBlock]:
    """Yield the blocks of a copy: headings, list items, lines of text, whole tables and whole code blocks."""
    by_line: dict[int, list[CoveredSentence]] = {}
    for covered in coverage.sentences:
        by_line.setdefault(covered.sentence.line, []).append(covered)
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
            yield _table(copy, number, last, by_line)
        elif text.strip():
            yield _text_block(text, number, by_line.get(number, []))
        number = last + 1


def worst_verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the most serious verdict among rows."""
    return min((str(row["verdict"]) for row in rows), key=FROM_WORST.index)


def _text_block(text: str, number: int, sentences: Sequence[CoveredSentence]) -> CopyBlock:
    heading, item = _HEADING.match(text), _ITEM.match(text)
    marker = heading or item
    html, rows = _coloured_html(text, marker.end() if marker else 0, len(text), sentences), _judging_rows(sentences)
    if heading:
        level = min(len(heading[1]) + 1, 4)
        return CopyBlock(number, "heading", Markup(f"<h{level}>{{}}</h{level}>").format(html), rows)
    if item:
        indent = Markup('<p class="item" style="margin-left:{}em">{} {}</p>')
        bullet = item[0].strip() if item[0].strip()[0].isdigit() else "•"
        return CopyBlock(number, "item", indent.format(len(item[1]) // 2 + 1, bullet, html), rows)
    return CopyBlock(number, "text", Markup("<p>{}</p>").format(html), rows)


def _table(copy: DocumentCopy, first: int, last: int, by_line: Mapping[int, list[CoveredSentence]]) -> CopyBlock:
    rows = []
    has_header = last > first and _HEADER_RULE.match(copy.lines[first])
    for number in range(first, last + 1):
        text = copy.lines[number - 1]
        if number > first and _HEADER_RULE.match(text):
            continue
        tag = "th" if has_header and number == first else "td"
        cells = [_coloured_html(text, start, end, by_line.get(number, [])) for start, end in _cell_extents(text)]
        html = Markup("").join(Markup(f"<{tag}>{{}}</{tag}>").format(cell.strip()) for cell in cells)
        identifier = Markup(' id="L{}"').format(number) if number > first else ""
        rows.append(Markup("<tr{}>{}</tr>\n").format(identifier, html))
    table = Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="Table, line {}">'
        "<table><tbody>\n{}</tbody></table></div>"
    )
    sentences = [sentence for number in range(first, last + 1) for sentence in by_line.get(number, [])]
    return CopyBlock(first, "table", table.format(first, Markup("").join(rows)), _judging_rows(sentences))


def _cell_extents(text: str) -> list[tuple[int, int]]:
    """Return start and end of each cell in a line of a table."""
    bars = [match.start() for match in re.finditer(r"(?<!\\)\|", text)]
    ends = bars[1:] if text.rstrip().endswith("|") else [*bars[1:], len(text)]
    return [(start + 1, end) for start, end in zip(bars, ends, strict=False)]


def _judging_rows(sentences: Sequence[CoveredSentence]) -> tuple[Mapping[str, Any], ...]:
    rows: dict[str, Mapping[str, Any]] = {}
    for sentence in sentences:
        rows |= {row["claim"]: row for row in (*sentence.rows, *(row for mark in sentence.marks for row in mark.rows))}
    return tuple(rows.values())


def _coloured_html(text: str, start: int, end: int, sentences: Sequence[CoveredSentence]) -> Markup:
    """Return the part of a line from `start` to `end` as HTML, with its sentences and numbers in colour."""
    html, position = Markup(""), start
    for sentence in sentences:
        low, high = max(sentence.start, start), min(sentence.start + len(sentence.sentence.text), end)
        if low >= high:
            continue
        html += _without_markdown(text[position:low])
        sentence_html = _coloured_numbers(text, low, high, sentence)
        if sentence.rows:
            sentence_html = Markup('<span class="judged v-{}">{}</span>').format(
                slug(worst_verdict(sentence.rows)), sentence_html
            )
        html += sentence_html
        position = high
    return html + _without_markdown(text[position:end])


def _coloured_numbers(text: str, low: int, high: int, sentence: CoveredSentence) -> Markup:
    html, position = Markup(""), low
    for mark in sentence.marks:
        start, end = sentence.start + mark.token.start, sentence.start + mark.token.end
        if start < low or end > high:
            continue
        html += _without_markdown(text[position:start])
        if mark.state == JUDGED and not sentence.rows:
            names = ", ".join(row["claim"] for row in mark.rows)
            span = Markup('<span class="judged v-{}" title="{}">{}</span>')
            html += span.format(slug(worst_verdict(mark.rows)), names, text[start:end])
        elif mark.state in TITLES:
            html += Markup('<span class="{}" title="{}">{}</span>').format(
                mark.state, TITLES[mark.state], text[start:end]
            )
        else:
            html += escape(text[start:end])
        position = end
    return html + _without_markdown(text[position:high])


def _without_markdown(text: str) -> Markup:
    """Return a text as HTML, without Markdown marks for bold text and code."""
    return escape(_EMPHASIS.sub("", text))
