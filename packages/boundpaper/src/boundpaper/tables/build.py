"""Build tables: call the function of a table step and render its Table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.errors import SpecError
from boundpaper.tables.render import render
from boundpaper.tables.spec import Table
from boundpaper.tables.units import contradicted_unit

if TYPE_CHECKING:
    from boundpaper.build.job import Job


def table_of(job: Job) -> Table:
    """Call a table step's function and return its Table.

    Raises SpecError when the function returns anything else, or a unit contradicts the data package.
    """
    spec = job.call()
    if not isinstance(spec, Table):
        raise SpecError(
            f"{job.file}: table() returned {type(spec).__name__}, not a Table: end it with `return Table(...)`"
        )
    if fault := contradicted_unit(job.root, job.artifacts, spec):
        raise SpecError(f"{job.file}: {fault}")
    return spec


def build(job: Job) -> dict[str, str]:
    """Return the output of a table step: the path of its file, mapped to the table in LaTeX."""
    return {f"out/tables/{job.name}.tex": render(table_of(job), job.name, "latex")}
