"""Build the LaTeX sources of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.errors import DataError, SpecError
from boundpaper.figures.render import float_tex, picture_files, tex
from boundpaper.figures.spec import Figure
from boundpaper.figures.units import contradicted_unit

if TYPE_CHECKING:
    from boundpaper.build.job import Job


def build(job: Job) -> dict[str, str | bytes]:
    """Call a figure's function, render its Figure, and return the files by path.

    The files are `out/figures/NAME.tex`, `out/figures/NAME.float.tex`, and the pictures that they include. Raises
    SpecError when the function does not return a Figure, or an axis contradicts a unit of the data package; errors name
    the figure's file.
    """
    try:
        figure = job.call()
        if not isinstance(figure, Figure):
            raise SpecError(
                f"figure() returned a {type(figure).__name__}; return a figures.Figure, or figures.from_matplotlib(...)"
            )
        if fault := contradicted_unit(job.root, job.artifacts, job.frames, figure):
            raise SpecError(f"figure {job.name}, {fault}")
        outputs: dict[str, str | bytes] = {
            f"out/figures/{job.name}.tex": tex(figure, job.name),
            f"out/figures/{job.name}.float.tex": float_tex(figure, job.name),
        }
        outputs |= {f"out/figures/{file}": picture for file, picture in picture_files(figure, job.name).items()}
    except (DataError, SpecError) as error:
        message = str(error)
        raise type(error)(message if message.startswith(job.file) else f"{job.file}: {message}") from error
    if figure.conversion_note:
        job.note(figure.conversion_note)
    return outputs
