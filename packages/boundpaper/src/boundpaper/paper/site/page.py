"""Render pages from templates, with all text escaped, and with links that work in any folder."""

import re
from functools import cache, lru_cache
from html import unescape
from pathlib import Path

import jinja2
from markupsafe import Markup

from boundpaper.errors import SpecError
from boundpaper.typeset.text import numerals

FOLDER = Path(__file__).parent / "templates"
ASSETS = ("site.css", "site.js")
_MATH = re.compile(r'<span class="math">\\\(((?:(?!<span).)*?)\\\)</span>', re.DOTALL)


@cache
def environment() -> jinja2.Environment:
    """Return the Jinja2 environment of pages, which escapes text that is not `Markup` and rejects unknown names."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, FOLDER.parent.parent / "annotate" / "templates"]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=True,
    )
    jinja.filters.update(shown=cell_text, numerals=numerals)
    jinja.globals["slug"] = slug
    return jinja


def page(template: str, path: str, **values: object) -> bytes:
    """Return the content of the page at `path`, which is relative to the site's folder.

    Raises SpecError, with file and line, when the template is missing, malformed, or uses an unknown name.
    """
    try:
        text = environment().get_template(template).render(root="../" * path.count("/"), path=path, **values)
    except jinja2.TemplateNotFound as error:
        raise SpecError(f"boundpaper/paper/site/templates/{error.name}: no such template (page {path})") from None
    except jinja2.TemplateSyntaxError as error:
        raise SpecError(
            f"boundpaper/paper/site/templates/{error.name or template}:{error.lineno}: {error.message}"
        ) from None
    except jinja2.UndefinedError as error:
        raise SpecError(f"boundpaper/paper/site/templates/{template}: {error.message} (page {path})") from error
    return text.encode()


def page_assets() -> dict[str, bytes]:
    """Return the style sheet and the script of all pages, by file name."""
    return {name: (FOLDER / name).read_bytes() for name in ASSETS}


def typeset(html: str) -> Markup:
    """Return HTML (a caption, a table) with its formulas as MathML, which browsers show and read aloud."""
    return Markup(_MATH.sub(lambda match: mathml(unescape(match[1])), html))


@lru_cache(4096)
def mathml(tex: str, *, block: bool = False) -> str:
    """Return a LaTeX formula as MathML for an HTML page."""
    from latex2mathml.converter import convert

    html = str(convert(tex, display="block" if block else "inline"))
    return html.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1).replace(' display="inline"', "", 1)


def cell_text(value: object) -> str:
    """Return a cell as text: a float with six significant digits, and a missing value as an empty text."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}".replace("-", "−") if abs(value) < 1e15 else f"{value:g}"
    return str(value)


def slug(text: str) -> str:
    """Return a text as a class name or id: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
