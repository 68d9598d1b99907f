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
"""Names with an underscore that exhibits may print: code names that a source prints, and a symbol."""

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
    """Return prose, or HTML if `is_html`, as plain text without mathematics, citations and markup."""
    markup = text if is_html else prose(text, "html")
    return html.unescape(re.sub(r"<[^>]*>", "", CITATION.sub("", MATH.sub("", markup))))


def faults(text: str) -> list[str]:
    """Return a line for each rule that a text breaks, with the part of the text that breaks it."""
    broken = [f"{rule}: {match[0]!r}" for rule, pattern in RULES.items() if (match := pattern.search(text))]
    for match in LONG.finditer(text):
        number = int(match[1])  # a number of five or more digits that is not round may be an answer, printed as it is
        if (number not in YEARS if number < 10_000 else number % 1000 == 0) or match[2]:
            broken.append(f"missing thousands separator: {match[0]!r}")
    return broken + [f"a name from the code: {name!r}" for name in NAME.findall(text) if name not in PRINTED_NAMES]


def constant_columns(grid):
    """Return the titles of columns whose cells are all equal, in a table of at least three rows."""
    columns = zip(grid.columns, zip(*body(grid, "html"), strict=True), strict=True)
    return [column.title for column, cells in columns if len(cells) > 2 and len(set(cells)) == 1]


def table_texts(grid):
    """Yield pairs of a location in a table and the text that a reader sees there."""
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
    """Yield pairs of a location in a figure and a text that a reader sees there."""
    yield "caption", visible_text(figure.caption)
    yield "note", visible_text(figure.note)
    for number, panel in enumerate(figure.panels, 1):
        texts = [panel.title, panel.x.label, panel.y.label, *(shade.label for shade in panel.shades)]
        texts += [rule.label for rule in panel.rules] + [note.text for note in panel.annotations]
        for axis in (panel.x, panel.y):
            texts += [str(name) for name in axis.categories]
            texts += list(axis.ticks.values()) if isinstance(axis.ticks, dict) else []
        for series in panel.series:
            texts.append(series.label)
            for field in ("labels", "rows", "groups", "texts"):
                texts += [str(value) for value in getattr(series, field, None) or ()]
            texts += [value for value in (getattr(series, "x", None) or ()) if isinstance(value, str)]
            values = getattr(series, "values", None) if type(series).__name__ == "Bars" else None
            texts += [] if isinstance(values, bool) else [value for value in values or () if isinstance(value, str)]
        for text in texts:
            yield f"panel {number}", visible_text(text)
