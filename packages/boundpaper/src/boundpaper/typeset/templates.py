"""Configure Jinja for LaTeX templates, with delimiters that do not clash with LaTeX's braces and percent signs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_ITEMS = 1_000_000  # largest number of characters or items in a product
MAX_BITS = 10_000  # largest number of bits in a power
LARGE_WIDTH = re.compile(r"\d{4,}")  # a field width of four digits or more in a format


def environment(*folders: Path, **options: Any) -> Environment:
    """Return an environment with `<< value >>`, `<% statement %>` and `<# comment #>`; unknown names are errors.

    The environment escapes nothing: values must already be escaped for their format (`boundpaper.typeset.text`).
    Templates run in Jinja2's sandbox, so that a template cannot run programs: an attribute that begins with an
    underscore is an error. A product, power or format that would fill the memory is also an error.
    `options` are options of `jinja2.Environment`; without `folders`, templates are given as text.
    """
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

    class TemplateLoader(jinja2.FileSystemLoader):
        def get_source(self, environment: Environment, template: str) -> Any:
            """Return the text of a template; a NUL byte, which LaTeX silently skips, is an error."""
            source, path, is_up_to_date = super().get_source(environment, template)
            if "\0" in source:
                line = source.count("\n", 0, source.index("\0")) + 1
                raise jinja2.TemplateSyntaxError(
                    "a NUL byte, which no text has; restore the file", line, template, path
                )
            return source, path, is_up_to_date

    class Sandbox(SandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "%"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            """Return the result of an operator, unless the result would fill the memory."""
            if fault := _excess(operator, left, right):
                raise jinja2.exceptions.SecurityError(fault)
            return super().call_binop(context, operator, left, right)

    return Sandbox(
        loader=TemplateLoader(list(map(str, folders))) if folders else jinja2.FunctionLoader(lambda name: None),
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


def _excess(operator: str, left: Any, right: Any) -> str:
    """Return why the result of an operator would fill the memory; empty if it would not."""
    if operator == "%" and isinstance(left, str) and LARGE_WIDTH.search(left):
        return "a format whose width has four digits or more"
    if operator == "**" and isinstance(left, int) and isinstance(right, int) and right * left.bit_length() > MAX_BITS:
        return f"a power of more than {MAX_BITS:,} bits"
    for sequence, count in ((left, right), (right, left)) if operator == "*" else ():
        if isinstance(sequence, (str, list, tuple)) and isinstance(count, int) and len(sequence) * count > MAX_ITEMS:
            return f"a product of more than {MAX_ITEMS:,} characters or items"
    return ""
