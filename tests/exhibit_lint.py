"""Style rules for exhibits, applied to the plain text that a reader sees."""

import html
import re

from boundpaper.tables.layout import body, heading_lines, label_text, note_text
from boundpaper.tables.notes import collect_notes
from boundpaper.typeset.text import prose

MATH = re.compile(r'<span class="math">.*?</span>')
CITATION = re.compile(r'<span class="citation">.*?</span>')
YEARS = (*range(1900, 2000), *range(2001, 2040))
PRINTED_NAMES = {"ap_drop", "ap_last_20", "length_bucket", "token_length", "H_T"}
"""Exceptions: code names that a source prints and headings quote, and a symbol."""

RULES = {
    "a hyphen for a minus": re.compile(r"(?<![\w.%)\]}/:-])-(?=\.?\d)"),
    "a hyphen for a range": re.compile(r"(?<![\w.,/:-])~?\d[\d.,]*[KM%×]?-~?\d[\d.,]*[KM%×]?(?![\w/:-]|[.,]\d)"),
    "a space before a percent sign": re.compile(r"\d[\s\u00a0\u2009\u202f]+%"),
    "thousands set apart by a space": re.compile(r"(?<![\w.,])\d{1,3}[\u00a0\u2009\u202f]\d{3}(?!\w)"),
    "an exponent as a machine writes it": re.compile(r"(?<![\w.])\d+(\.\d+)?e[+-]?\d+(?!\w)"),
    "a number of more digits than anybody needs": re.compile(r"(?<![\w.,])\d\d\.\d{4,}(?!\w)"),
}
LONG = re.compile(r"(?<![\w.,/#:^-])(\d{4,})(?![\w/-]|[.,:]\d)( (?:tokens|steps|heads|items)\b)?")
NAME = re.compile(r"(?<![\w/.])[A-Za-z]\w*_\w+(?![\w/.]*\.(?:csv|py))")


def visible_text(text: str, is_html: bool = False) -> str:
    """Return prose (or HTML, if `known`) as plain text without mathematics, citations and markup."""
    markup = text if is_html else prose(text, "html")
    return html.unescape(re.sub(r"<[^>]*>", "", CITATION.sub("", MATH.sub("", markup))))


def faults(text: str) -> list[str]:
    """Return the rules that a text breaks, each with the offending text."""
    broken = [f"{rule}: {match[0]!r}" for rule, pattern in RULES.items() if (match := pattern.search(text))]
    for match in LONG.finditer(text):
        number = int(match[1])  # every digit counts in a long number that is not round, which may be an answer
        if (number not in YEARS if number < 10_000 else number % 1000 == 0) or match[2]:
            broken.append(f"missing thousands separator: {match[0]!r}")
    return broken + [f"a name from the code: {name!r}" for name in NAME.findall(text) if name not in PRINTED_NAMES]


def constant_columns(grid):
    """Return titles of columns with one value in all of three or more rows, which belongs in the caption instead."""
    columns = zip(grid.columns, zip(*body(grid, "html"), strict=True), strict=True)
    return [column.title for column, cells in columns if len(cells) > 2 and len(set(cells)) == 1]


def table_texts(grid):
    """Yield each location in a table with the text that a reader sees there."""
    rows = body(grid, "html")
    for index, column in enumerate(grid.columns):
        for number, row in enumerate(rows, 1):
            yield f"row {number}, {column.title!r}", visible_text(row[index], is_html=True)
    for column, lines in zip(grid.columns, heading_lines(grid, "html"), strict=True):
        yield f"heading of {column.field}", visible_text(" ".join(lines), is_html=True)
    yield "caption", visible_text(grid.table.caption)
    for note in collect_notes(grid).notes:
        yield f"note {label_text(note)}", visible_text(note_text(note, "html"), is_html=True)
    for group in dict.fromkeys(grid.groups):
        yield f"group {group!r}", group


def figure_texts(figure):
    """Yield each text of a figure with its location: caption, note, titles, axes, names."""
    yield "caption", visible_text(figure.caption)
    yield "note", visible_text(figure.note)
    for number, panel in enumerate(figure.panels, 1):
        words = [panel.title, panel.x.label, panel.y.label, *(s.label for s in panel.shades)]
        words += [rule.label for rule in panel.rules] + [note.text for note in panel.annotations]
        for axis in (panel.x, panel.y):
            words += [str(name) for name in axis.categories]
            words += list(axis.ticks.values()) if isinstance(axis.ticks, dict) else []
        for series in panel.series:
            words.append(series.label)
            for column in ("labels", "rows", "groups", "texts"):
                words += [str(each) for each in getattr(series, column, None) or ()]
            words += [str(each) for each in (getattr(series, "x", None) or ()) if isinstance(each, str)]
            values = getattr(series, "values", None) if type(series).__name__ == "Bars" else None
            words += [] if isinstance(values, bool) else [each for each in values or () if isinstance(each, str)]
        for word in words:
            yield f"panel {number}", visible_text(word)
