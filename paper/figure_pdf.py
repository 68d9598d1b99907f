"""Pictures: each figure compiled to its own PDF, with its own log, on a precompiled preamble.

A preamble costs more than half of a figure's time. All figures share one, so it is dumped once as a format and
every figure takes the same path; the format's name is a hash of what it was made from.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from artifacts.build import process
from artifacts.errors import LatexError, SpecError
from artifacts.store import files
from paper import latex, log

if TYPE_CHECKING:
    from artifacts.build.job import Job

END_OF_PREAMBLE = r"\csname endofdump\endcsname"
MAX_PASSES = 3  # PGFPlots' named legends need a second one

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_locks_lock = threading.Lock()


def build(job: Job) -> dict[str, str | bytes]:
    """Compile `out/figures/NAME.tex`; may run in several threads at once.

    Raises
    ------
    LatexError
        LaTeX refused the figure, took too long, or could not set a character.
    MissingDependency
        There is no pdflatex.
    """
    return {f"out/figures/{job.name}.pdf": compile_figure(job.root / "out", job.name)}


def compile_figure(out: Path, name: str) -> bytes:
    """Compile `figures/NAME.tex` of an output folder and return the PDF.

    The run's files stay in `state/latex/figures/NAME/`, its log goes to `logs/figures/NAME.log`.

    Parameters
    ----------
    out : Path
        The output folder.
    name : str
        The figure's name.
    """
    document = f"figures/{name}.tex"
    try:
        text = (out / document).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"out/{document}: not there; build the figure {name} first") from None
    process.require("pdflatex")
    form = _format(out, text, document)
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
            formats="state/formats",
            timeout=latex.FIGURE_TIMEOUT,
        )
        found = _read(out, f"{scratch}/{name}.log", f"logs/figures/{name}.log")
        if done.timed_out:
            raise _slow(text, document)
        if done.returncode or found.errors:
            raise log.failure(found, f"out/{document}", done.output)
        if not found.rerun:
            break
    lost = [finding for finding in found.warnings if finding.kind in ("missing character", "undefined reference")]
    if lost:
        raise LatexError("\n".join(str(finding) for finding in lost), f"out/{document}", 0, log.origin(text, 0))
    return (out / scratch / f"{name}.pdf").read_bytes()


def preamble(text: str, document: str) -> tuple[str, list[int]]:
    """The part of a figure that goes into the format, without comment lines, and each line's number in the figure.

    Comments name the figure, so with them no two preambles would be equal.

    Raises
    ------
    SpecError
        The line that ends the preamble is missing.
    """
    kept: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == END_OF_PREAMBLE:
            return "\n".join(kept) + "\n", numbers
        if line.strip() and not line.lstrip().startswith("%"):
            kept.append(line)
            numbers.append(number)
    raise SpecError(f"out/{document}: no line {END_OF_PREAMBLE} alone; it ends the preamble that figures share")


def _format(out: Path, text: str, document: str) -> str:
    """Name of the format for a figure's preamble, which is dumped when it is not there."""
    shared, numbers = preamble(text, document)
    name = hashlib.blake2b(f"{_installation()}\n{shared}".encode(), digest_size=10).hexdigest()
    formats = out / "state" / "formats"
    with _locks_lock:
        lock = _locks[str(formats / name)]
    with lock:
        if (formats / f"{name}.fmt").is_file():
            return name
        scratch = f"state/formats/{name}"
        files.write(out / scratch / "preamble.tex", f"{shared}\\begin{{document}}\n\\end{{document}}\n".encode())
        done = latex.dump(f"{scratch}/preamble.tex", cwd=out, output=scratch, form=name, timeout=latex.FIGURE_TIMEOUT)
        found = _read(out, f"{scratch}/{name}.log", "logs/figures/preamble.log")
        if done.timed_out:
            raise _slow(text, document)
        if done.returncode or found.errors or not (out / scratch / f"{name}.fmt").is_file():
            error = log.failure(found, f"out/{document}", done.output)
            line = numbers[error.line - 1] if 0 < error.line <= len(numbers) else 0
            raise LatexError(f"in the preamble: {error.message}", f"out/{document}", line, log.origin(text, line))
        (out / scratch / f"{name}.fmt").replace(formats / f"{name}.fmt")
        shutil.rmtree(out / scratch)
    return name


@cache
def _installation() -> str:
    """What tells one TeX installation from another: a format is bound to its binary and its packages."""
    here, environment = Path(__file__).parent, latex.environment()
    version = process.run(("pdflatex", "--version"), here, latex.FIGURE_TIMEOUT, environment).output
    asked = ("kpsewhich", "-engine=pdftex", "pdflatex.fmt")
    base = Path(process.run(asked, here, latex.FIGURE_TIMEOUT, environment).output.strip())
    stamp = f"{base.stat().st_mtime_ns} {base.stat().st_size}" if base.is_file() else ""
    return f"{version.splitlines()[0] if version else ''} {stamp}"


def _read(out: Path, path: str, kept: str) -> log.Log:
    """Parse a log, and keep a copy where a reader finds it."""
    try:
        text = (out / path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return log.Log((), (), False)
    files.write(out / kept, text.encode())
    return log.parse(text, out)


def _slow(text: str, document: str) -> LatexError:
    limit = f"{latex.FIGURE_TIMEOUT:.0f} s"
    message = f"pdflatex took longer than {limit} and was ended; draw fewer points, or a dense raster as PNG"
    return LatexError(message, f"out/{document}", 0, log.origin(text, 0))
