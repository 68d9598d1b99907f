"""Render the templates of tables, and report their faults with file and line."""

from functools import cache
from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.typeset.templates import environment

FOLDER = Path(__file__).parent / "templates"
PLACE = "boundpaper/tables/templates"


_environment = cache(environment)


def fill_template(template: str, name: str, folder: Path = FOLDER, **values: object) -> str:
    """Render a template for the table `name`.

    Raises SpecError, with file and line, when the template is missing, malformed, or uses an unknown name.
    """
    import jinja2

    try:
        return _environment(folder).get_template(template).render(name=name, **values)
    except jinja2.TemplateNotFound as error:
        raise SpecError(f"{PLACE}/{error.name}: no such template (table {name})") from None
    except jinja2.TemplateSyntaxError as error:
        raise SpecError(f"{PLACE}/{error.name or template}:{error.lineno}: {error.message} (table {name})") from None
    except (jinja2.TemplateError, TypeError, AttributeError, ValueError) as error:
        file, line = _template_line(error, folder, template)
        raise SpecError(f"{PLACE}/{file}:{line}: {error} (table {name})") from error


def _template_line(error: BaseException, folder: Path, template: str) -> tuple[str, int]:
    """Return the template and line of an error: the deepest traceback frame in a template."""
    file, line, trace = template, 0, error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.parent == folder:
            file, line = path.name, trace.tb_lineno
        trace = trace.tb_next
    return file, line
