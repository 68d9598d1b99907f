"""Compile each figure to its own PDF with its own log, from a precompiled preamble that all figures share."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.build import process
from boundpaper.errors import LatexError, SpecError
from boundpaper.figures.render import preamble
from boundpaper.paper.tex import formats, latex, log

if TYPE_CHECKING:
    from boundpaper.build.job import Job

LOSSES = frozenset({"missing character", "missing file", "undefined reference"})
"""Kinds of warnings which mean that a part of a figure is not shown."""
MAX_PASSES = 3  # most passes: named legends of PGFPlots need a second pass


def build(job: Job) -> dict[str, str | bytes]:
    """Compile `out/figures/NAME.tex` and return the PDF by its path; several threads may do so at once.

    Raises LatexError when LaTeX failed, took too long, could not set a character, or did not find a picture;
    MissingDependency without pdflatex.
    """
    return {f"out/figures/{job.name}.pdf": compile_figure(job.root / "out", job.name)}


def prepare(root: Path) -> None:
    """Precompile the preamble that figures share."""
    formats.ensure(root / "out", preamble(), "figures", "logs/figures/preamble.log", latex.FIGURE_TIMEOUT)


def compile_figure(out: Path, name: str) -> bytes:
    """Compile `figures/NAME.tex` of an output folder and return the PDF.

    Auxiliary files stay in `state/latex/figures/NAME/`; the log is written to `logs/figures/NAME.log`.
    """
    document = f"figures/{name}.tex"
    try:
        text = (out / document).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"out/{document}: no such file; build the figure {name} first") from None
    process.require("pdflatex")
    fmt = formats.ensure(out, text, document, "logs/figures/preamble.log", latex.FIGURE_TIMEOUT)
    scratch = f"state/latex/figures/{name}"
    shutil.rmtree(out / scratch, ignore_errors=True)  # files of an earlier run must not affect this run
    (out / scratch).mkdir(parents=True)
    for _ in range(MAX_PASSES):
        run = latex.pdflatex(
            document, cwd=out, output=scratch, job=name, fmt=fmt, formats=formats.FOLDER, timeout=latex.FIGURE_TIMEOUT
        )
        report = log.read(out, f"{scratch}/{name}.log", f"logs/figures/{name}.log")
        if run.timed_out:
            limit = f"{latex.FIGURE_TIMEOUT:.0f} s"
            message = f"pdflatex took longer than {limit} and was stopped; draw fewer points, or a dense raster as PNG"
            raise LatexError(message, f"out/{document}", 0, log.origin(text, 0))
        if run.returncode or report.errors:
            raise log.latex_failure(report, f"out/{document}", run.output)
        if not report.needs_rerun:
            break
    if losses := [str(warning) for warning in report.warnings if warning.kind in LOSSES]:
        raise LatexError("\n".join(losses), f"out/{document}", 0, log.origin(text, 0))
    return (out / scratch / f"{name}.pdf").read_bytes()
