"""Run pdflatex, bibtex and latexmk so that runs are reproducible and write only into the output folder.

All programs run in the output folder, and their paths are relative to it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from boundpaper.build import process

EPOCH = "1793491200"  # 2026-11-01 00:00 UTC: the only time that may appear in a document
PASS_TIMEOUT = 120.0  # seconds for one pass over the thesis
FIGURE_TIMEOUT = 60.0  # seconds for one figure
FLAGS = ("-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "-file-line-error")
FIRST_LINE = r"\pdftrailerid{}\pdfsuppressptexinfo=-1\pdfinfoomitdate=1"
_VARIABLES = ("PATH", "HOME", "TMPDIR", "TEXMFHOME", "TEXMFVAR", "TEXMFCONFIG", "TEXMFCNF", "TEXMFROOT")


def environment(*, inputs: Sequence[str] = (), formats: str = "", bibliographies: str = "") -> dict[str, str]:
    r"""Return the environment variables of a LaTeX run, without the TeX search paths that the caller's shell sets.

    `inputs` are folders, relative to the output folder, that TeX searches before its own tree; `formats` and
    `bibliographies` are the folders of precompiled formats and of the `.bib` file. `openin_any=p` and `openout_any=p`
    keep TeX from reading and writing outside its folder, but do not apply to the command `\pdfobj`. Therefore
    `boundpaper.typeset.armour` forbids this command in exhibits.
    """
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return variables | {
        "openin_any": "p",
        "openout_any": "p",
        "max_print_line": "1000",  # otherwise messages are broken at column 79, even within file names
        "error_line": "254",
        "half_error_line": "238",
        "MKTEXPK": "0",  # a bitmap font must fail, not be generated
        "MKTEXTFM": "0",
        "MKTEXMF": "0",
        "TEXINPUTS": "".join(f"{folder}:" for folder in (".", *inputs)),
        "TEXFORMATS": f"{formats}:" if formats else "",
        "BIBINPUTS": f"{bibliographies}:" if bibliographies else "",
        "SOURCE_DATE_EPOCH": EPOCH,
        "FORCE_SOURCE_DATE": "1",
        "TZ": "UTC",
        "LC_ALL": "C",
    }


def pdflatex(
    document: str,
    *,
    cwd: Path,
    output: str,
    job: str,
    fmt: str = "",
    formats: str = "",
    record: bool = False,
    draft: bool = False,
    timeout: float = PASS_TIMEOUT,
) -> process.CompletedProgram:
    """Run one pass of pdflatex, and return its outcome.

    `document` and `output` are relative to `cwd`, the output folder. `output` is an existing folder for the PDF, log
    and auxiliary files, whose stem is `job`. `fmt` and `formats` are name and folder of a precompiled format. With
    `record`, a `.fls` lists the files that were read. With `draft`, auxiliary files are written, but no PDF.
    """
    options = [f"-fmt={fmt}"] * bool(fmt) + ["-recorder"] * record + ["-draftmode"] * draft
    argv = ("pdflatex", *options, *FLAGS, f"-output-directory={output}", f"-jobname={job}", document)
    return process.run(argv, cwd, timeout, environment(formats=formats))


def bibtex(job: str, *, cwd: Path, bibliographies: str) -> process.CompletedProgram:
    """Run BibTeX, which writes the entries that `JOB.aux` cites to `JOB.bbl`; `job` is relative to `cwd`."""
    process.require("bibtex")
    return process.run(("bibtex", job), cwd, PASS_TIMEOUT, environment(bibliographies=bibliographies))


def dump_format(preamble: str, *, cwd: Path, output: str, fmt: str, timeout: float) -> process.CompletedProgram:
    """Precompile a preamble to the format `FMT.fmt` in the folder `output`, with mylatexformat."""
    argv = ("pdflatex", "-ini", *FLAGS, f"-output-directory={output}", f"-jobname={fmt}")
    return process.run((*argv, "&pdflatex", "mylatexformat.ltx", preamble), cwd, timeout, environment())


def pdflatex_despite_errors(
    document: str, *, cwd: Path, output: str, job: str, timeout: float = PASS_TIMEOUT
) -> process.CompletedProgram:
    """Run one pass of pdflatex that continues after errors, so that its log lists all of them; it may write a PDF."""
    flags = [flag for flag in FLAGS if flag not in ("-halt-on-error", "-interaction=batchmode")]
    argv = ("pdflatex", "-interaction=nonstopmode", *flags, f"-output-directory={output}", f"-jobname={job}", document)
    return process.run(argv, cwd, timeout, environment(inputs=(output,), bibliographies=output))


def latexmk(
    document: str, *, cwd: Path, output: str, fmt: str = "", formats: str = "", timeout: float = 5 * PASS_TIMEOUT
) -> process.CompletedProgram:
    """Run as many passes of pdflatex and bibtex as `document` needs, without the user's settings of latexmk.

    Arguments are as in `pdflatex`. The folder `output` also has the `.bib` file, and `timeout` is for all passes.
    """
    process.require("latexmk", "pdflatex", "bibtex")
    engine = " ".join(("pdflatex", *([f"-fmt={fmt}"] * bool(fmt)), *FLAGS, "%O", "%S"))
    argv = ("latexmk", "-norc", "-pdf", "-bibtex", f"-pdflatex={engine}", f"-outdir={output}", document)
    return process.run(argv, cwd, timeout, environment(bibliographies=output, formats=formats))
