"""Convert a figure to LaTeX: a standalone document, the float that includes its PDF, and pictures."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.figures.check import check
from boundpaper.figures.text import latex
from boundpaper.places import project_or_none
from boundpaper.typeset import templates
from boundpaper.typeset.armour import guarded_latex

if TYPE_CHECKING:
    import jinja2

    from boundpaper.figures.spec import Figure

TEMPLATES = Path(__file__).parent / "templates"


def preamble() -> str:
    """Return the preamble that figures share: fonts, palette, and the look of axes."""
    return (TEMPLATES / "preamble.tex").read_text(encoding="utf-8")


def tex(figure: Figure, name: str, head: str = "") -> str:
    r"""Return the standalone document of a figure; `head`, if given, replaces the shared preamble.

    The document begins with the whole preamble up to `\endofdump`, so that it compiles alone or with a format
    precompiled from this preamble. Raises DataError or SpecError that names the faulty column, figure or template.
    """
    return guarded_latex(_render_document(figure, name, head or preamble()), f"figure {name}")


def _render_document(figure: Figure, name: str, head: str) -> str:
    check(figure, name)
    fields: dict[str, Any] = {"preamble": head, "name": name, "source": f"figure:{name}"}
    if figure.template:
        body = _fill_template(figure.template, {**figure.values, "name": name, "figure": figure})
        return _fill_template("own.tex.j2", {**fields, "body": body.strip()})
    if figure.body:
        return _fill_template("own.tex.j2", {**fields, "body": figure.body.replace("<< name >>", name).strip()})
    from boundpaper.figures.view import figure_view

    return _fill_template("standalone.tex.j2", {**fields, **figure_view(figure, name)})


def float_tex(figure: Figure, name: str, *, path: str = "", spans_both: bool = False) -> str:
    """Return the float: the figure's PDF with caption, note and the label `fig:NAME`.

    `path` is the path of the PDF for LaTeX, by default `figures/NAME.pdf`; with `spans_both`, the float spans both
    columns of a page.
    """
    check(figure, name)
    text = _fill_template(
        "float.tex.j2",
        {
            "name": name,
            "path": path or f"figures/{name}.pdf",
            "star": "*" if spans_both else "",
            "source": f"figure:{name}",
            "caption": latex(figure.caption),
            "short": latex(figure.short or _first_sentence(figure.caption)),
            "note": latex(figure.note) if figure.note else "",
        },
    )
    return guarded_latex(text, f"figure {name}")


def picture_files(figure: Figure, name: str) -> dict[str, bytes]:
    """Return the pictures that the document includes, by file name: dense heat maps, and the figure's `files`."""
    from boundpaper.figures.margins import colour_limits
    from boundpaper.figures.png import heat_png
    from boundpaper.figures.view import displayed_rows, rasterized_heat_maps

    check(figure, name)
    files = {f"{name}{suffix}": picture for suffix, picture in figure.files.items()}
    for i, s in rasterized_heat_maps(figure):
        panel = figure.panels[i]
        is_flipped = not (panel.y.reverse or bool(panel.y.categories))
        rows = displayed_rows(s, panel.x.reverse, is_flipped)
        files[f"{name}-{i + 1}.png"] = heat_png(rows, *colour_limits(s), s.colors)
    return files


def _first_sentence(caption: str) -> str:
    """Return the caption up to its first full stop, without citations, for the list of figures."""
    from boundpaper.typeset.text import without_citations

    uncited = without_citations(caption)
    end = uncited.find(". ")
    return (uncited if end < 0 else uncited[:end]).rstrip(".")


def _template_folder() -> Path | None:
    """Return the project's folder for templates of single figures; None outside a project."""
    root = project_or_none()
    return root / "figures" if root else None


@cache
def _template_environment(folder: Path | None) -> jinja2.Environment:
    return templates.environment(TEMPLATES, *([folder] if folder else []))


def _fill_template(template: str, fields: dict[str, Any]) -> str:
    import traceback

    import jinja2

    try:
        return _template_environment(_template_folder()).get_template(template).render(fields)
    except jinja2.TemplateSyntaxError as error:
        raise SpecError(f"{_template_path(error.filename or template)}:{error.lineno}: {error.message}") from None
    except jinja2.TemplateNotFound as error:
        raise SpecError(
            f"no template '{error.name}' in figures/ or boundpaper/figures/templates/; correct its name, or add it"
        ) from None
    except (jinja2.UndefinedError, TypeError, ValueError, KeyError, AttributeError) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith(".j2")]
        location = f"{_template_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else template
        raise SpecError(f"{location}: {error}") from None


def _template_path(file: str) -> str:
    path, folder = Path(file), _template_folder()
    if folder and path.is_relative_to(folder):
        return f"figures/{path.relative_to(folder)}"
    return f"boundpaper/figures/templates/{path.name}"
