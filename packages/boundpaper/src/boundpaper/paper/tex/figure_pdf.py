"""Compile each figure to its own PDF, with its own log, on the precompiled preamble that all figures share."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.build import process
from boundpaper.errors import LatexError, SpecError
from boundpaper.paper.tex import formats, latex, log

if TYPE_CHECKING:
    from boundpaper.build.job import Job

LOST = frozenset({"missing character", "missing file", "undefined reference"})
"""Kinds of warnings after which something of a figure is not shown."""
MAX_PASSES = 3  # PGFPlots' named legends need a second one


def build(job: Job) -> dict[str, str | bytes]:
    """Compile `out/figures/NAME.tex`; may run in several threads at once.

    Raises LatexError when LaTeX refused the figure, took too long, could not set a character, or did not find a
    picture; MissingDependency when there is no pdflatex.
    """
    return {f"out/figures/{job.name}.pdf": compile_figure(job.root / "out", job.name)}


def compile_figure(out: Path, name: str) -> bytes:
    """Compile `figures/NAME.tex` of an output folder and return the PDF.

    The run's files stay in `state/latex/figures/NAME/`, its log goes to `logs/figures/NAME.log`.
    """
    document = f"figures/{name}.tex"
    try:
        text = (out / document).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"out/{document}: not there; build the figure {name} first") from None
    process.require("pdflatex")
    form = formats.made(out, text, document, "logs/figures/preamble.log", latex.FIGURE_TIMEOUT)
    scratch = f"state/latex/figures/{name}"
    shutil.rmtree(out / scratch, ignore_errors=True)  # what an earlier version left must not reach this one
    (out / scratch).mkdir(parents=True)
    for _ in range(MAX_PASSES):
        done = latex.pdflatex(
            document,
            cwd=out,
            output=scratch,
            job=name,
            form=form,
            formats=formats.FOLDER,
            timeout=latex.FIGURE_TIMEOUT,
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
    message = f"pdflatex took longer than {limit} and was ended; draw fewer points, or a dense raster as PNG"
    return LatexError(message, f"out/{document}", 0, log.origin(text, 0))
