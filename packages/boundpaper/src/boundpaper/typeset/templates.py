"""Templates of LaTeX: one set of signs for all rooms, since braces and percent signs belong to LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(*folders: Path, **options: Any) -> Environment:
    """An environment with `<< value >>`, `<% statement %>` and `<# comment #>`; an unknown name is an error.

    Nothing is escaped here: values arrive escaped for their format (`boundpaper.typeset.text`). A template reaches what
    it is given and no further: attributes that begin with an underscore, by which Python's own objects lead to the
    system, are refused (jinja2's sandbox). It keeps a slip, or a chapter of someone else, from running programs.

    Parameters
    ----------
    folders : Path
        Where templates lie; none where they are given as text.
    options
        As of `jinja2.Environment`.
    """
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

    class Loader(jinja2.FileSystemLoader):
        def get_source(self, environment: Environment, template: str) -> Any:
            """A template's text; a NUL, which LaTeX passes over in silence, is an error."""
            source, path, current = super().get_source(environment, template)
            if "\0" in source:
                line = source.count("\n", 0, source.index("\0")) + 1
                raise jinja2.TemplateSyntaxError(
                    "a NUL byte, which no text has; restore the file", line, template, path
                )
            return source, path, current

    return SandboxedEnvironment(
        loader=Loader(list(map(str, folders))) if folders else None,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        **options,
    )
