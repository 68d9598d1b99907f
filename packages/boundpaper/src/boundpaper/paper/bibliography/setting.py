"""Write the parts of a field as LaTeX for BibTeX, or as HTML for the site."""

import re
import unicodedata
from collections.abc import Sequence

from markupsafe import Markup, escape

from boundpaper.paper.bibliography.markup import Group, Link, Logo, Math, Part, StyledText
from boundpaper.paper.bibliography.signs import STYLES, latex_character
from boundpaper.typeset.addresses import doi, web_link

_LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’"))


def latex(parts: Sequence[Part], depth: int = 0) -> str:
    """Return parts as ASCII LaTeX, since BibTeX counts and sorts bytes; `depth` is the number of braces around them."""
    return "".join(_part_as_latex(part, depth) for part in parts)


def _part_as_latex(part: Part, depth: int) -> str:
    if isinstance(part, Group):
        return "{" + latex(part.parts, depth + 1) + "}"
    if isinstance(part, Math):
        return f"${part.tex}$" if depth else f"{{${part.tex}$}}"  # without braces, BibTeX may lower its capitals
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
    """Return parts as HTML, with formulas as TeX and links only to web addresses."""
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
        address, words = (part.target, part.target) if part.kind == "url" else (doi(part.target), f"doi: {part.target}")
        return web_link(address, html(part.parts) if part.parts else escape(words))
    for ligature, character in _LIGATURES:
        part = part.replace(ligature, character)
    return escape(part)
