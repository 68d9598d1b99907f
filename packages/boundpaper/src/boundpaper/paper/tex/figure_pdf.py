"""Compile each figure to a separate PDF with a separate log, with a precompiled preamble that all figures share."""

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

LOST = frozenset({"missing character", "missing file", "undefined reference"})
"""Kinds of warnings that mean a part of a figure is not shown."""
MAX_PASSES = 3  # most passes: named legends of PGFPlots need a second pass


def build(job: Job) -> dict[str, str | bytes]:
    """Compile `out/figures/NAME.tex` and return the PDF by path; may run in several threads at once.

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
    form = formats.ensure(out, text, document, "logs/figures/preamble.log", latex.FIGURE_TIMEOUT)
    scratch = f"state/latex/figures/{name}"
    shutil.rmtree(out / scratch, ignore_errors=True)  # files of an earlier version must not affect this one
    (out / scratch).mkdir(parents=True)
    for _ in range(MAX_PASSES):
        done = latex.pdflatex(
            document, cwd=out, output=scratch, job=name, form=form, formats=formats.FOLDER, timeout=latex.FIGURE_TIMEOUT
        )
        report = log.read(out, f"{scratch}/{name}.log", f"logs/figures/{name}.log")
        if done.timed_out:
            raise _timeout_error(text, document)
        if done.returncode or report.errors:
            raise log.latex_failure(report, f"out/{document}", done.output)
        if not report.rerun:
            break
    lost = [finding for finding in report.warnings if finding.kind in LOST]
    if lost:
        raise LatexError("\n".join(str(finding) for finding in lost), f"out/{document}", 0, log.origin(text, 0))
    return (out / scratch / f"{name}.pdf").read_bytes()


def _timeout_error(text: str, document: str) -> LatexError:
    limit = f"{latex.FIGURE_TIMEOUT:.0f} s"
    message = f"pdflatex took longer than {limit} and was stopped; draw fewer points, or a dense raster as PNG"
    return LatexError(message, f"out/{document}", 0, log.origin(text, 0))
