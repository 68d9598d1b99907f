"""Write the parts of a field as LaTeX for BibTeX, or as HTML for the pages."""

import re
import unicodedata
from collections.abc import Sequence

from markupsafe import Markup, escape

from boundpaper.paper.bibliography.markup import Group, Link, Logo, Math, Part, StyledText
from boundpaper.paper.bibliography.signs import STYLES, latex_character
from boundpaper.typeset.addresses import doi, web_link

_LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’"))


def latex(parts: Sequence[Part], depth: int = 0) -> str:
    """Return the LaTeX of parts in ASCII, since BibTeX counts, sorts and abbreviates single bytes."""
    return "".join(_part_as_latex(part, depth) for part in parts)


def _part_as_latex(part: Part, depth: int) -> str:
    if isinstance(part, Group):
        return "{" + latex(part.parts, depth + 1) + "}"
    if isinstance(part, Math):
        return f"${part.tex}$" if depth else f"{{${part.tex}$}}"  # otherwise BibTeX would lower its capitals
    if isinstance(part, Logo):
        return f"{{\\{part.command}}}"
    if isinstance(part, StyledText):
        return f"\\{part.command}{{{latex(part.parts, depth + 1)}}}"
    if isinstance(part, Link):
        if not part.parts:
            return f"\\url{{{part.target}}}" if part.kind == "url" else f"\\doi{{{part.target}}}"
        target = re.sub("([%#])", r"\\\1", part.target)
        return f"\\href{{{target}}}{{{latex(part.parts, depth + 1)}}}"
    return "".join(map(latex_character, unicodedata.normalize("NFC", part)))


def html(parts: Sequence[Part]) -> Markup:
    """Return the HTML of parts; formulas become MathML, and only web addresses become links."""
    return Markup("").join(map(_part_as_html, parts))


def _part_as_html(part: Part) -> Markup:
    if isinstance(part, Group):
        return html(part.parts)
    if isinstance(part, Math):
        return Markup('<span class="math">\\({}\\)</span>').format(part.tex)
    if isinstance(part, Logo):
        return escape(part.command)
    if isinstance(part, StyledText):
        tag, inner = STYLES[part.command], html(part.parts)
        return Markup(f"<{tag}>{{}}</{tag}>").format(inner) if tag else inner
    if isinstance(part, Link):
        shown = html(part.parts) if part.parts else escape(part.target if part.kind == "url" else f"doi: {part.target}")
        return web_link(part.target if part.kind == "url" else doi(part.target), shown)
    for written, sign in _LIGATURES:
        part = part.replace(written, sign)
    return escape(part)
