"""Render the templates of tables, and report their faults with file and line."""

import traceback
from functools import cache
from pathlib import Path

from boundpaper.errors import SpecError
from boundpaper.typeset.templates import environment

FOLDER = Path(__file__).parent / "templates"
FOLDER_NAME = "boundpaper/tables/templates"
"""The folder of the templates in messages and generated files."""

_environment = cache(environment)


def fill_template(template: str, name: str, folder: Path = FOLDER, **values: object) -> str:
    """Return a template of `folder` filled with values for the table `name`.

    Raises SpecError, with file and line, when the template is missing, malformed, or uses an unknown name.
    """
    import jinja2

    try:
        return _environment(folder).get_template(template).render(name=name, **values)
    except jinja2.TemplateNotFound as error:
        raise SpecError(f"{FOLDER_NAME}/{error.name}: no such template (table {name})") from None
    except jinja2.TemplateSyntaxError as error:
        location = f"{FOLDER_NAME}/{error.name or template}:{error.lineno}"
        raise SpecError(f"{location}: {error.message} (table {name})") from None
    except (jinja2.TemplateError, TypeError, AttributeError, ValueError) as error:
        file, line = _template_line(error, folder, template)
        raise SpecError(f"{FOLDER_NAME}/{file}:{line}: {error} (table {name})") from error


def _template_line(error: BaseException, folder: Path, template: str) -> tuple[str, int]:
    """Return the file and line of the deepest traceback frame in a template, or `template` and 0 if there is none."""
    file, line = template, 0
    for frame, frame_line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.parent == folder:
            file, line = path.name, frame_line
    return file, line
