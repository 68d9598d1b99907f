"""Compile a preview of one chapter with its exhibits."""

import shutil
from dataclasses import replace
from pathlib import Path

from boundpaper.build import process
from boundpaper.errors import LatexError, SpecError
from boundpaper.paper import bibliography, calls, document, lint, metadata
from boundpaper.paper.tex import formats, latex, log
from boundpaper.store import files
from boundpaper.store.text_file import text_of
from boundpaper.typeset.plural import counted

PREVIEWS = "state/latex/chapters"  # folder, below `out`, of files that speed up the next preview


def compile_chapter(root: Path, name: str) -> bytes:
    """Compile one chapter with its number, without title page and lists; references to other chapters print `??`.

    The chapter and its exhibits must be in the output folder. Raises LatexError with LaTeX's errors, or with all boxes
    that are more than 5 pt too wide; SpecError for a label that is defined twice, or an exhibit that is shown twice.
    """
    file = f"paper/chapters/{name}.tex.j2"
    if label_faults := lint.find_label_faults({file: text_of(root, file, SpecError)}):
        raise SpecError("\n".join(map(str, label_faults)))
    out = root / "out"
    state = f"{PREVIEWS}/{name}"
    paper = metadata.read(root)
    if name in paper.appendices:
        preview_paper, number = replace(paper, chapters=(), appendices=(name,)), paper.appendices.index(name) + 1
    else:
        preview_paper, number = replace(paper, chapters=(name,), appendices=()), (*paper.chapters, name).index(name) + 1
    text = document.render(root, preview_paper, preview=number)
    files.write(out / state / f"{name}.tex", text.encode())
    files.write(out / state / "references.bib", bibliography.read(root).checked().text.encode())
    process.require("pdflatex")
    fmt = formats.ensure(out, text, f"{state}/{name}.tex", "logs/preamble.log", latex.PASS_TIMEOUT)
    run = latex.latexmk(f"{state}/{name}.tex", cwd=out, output=state, fmt=fmt, formats=formats.FOLDER)
    log_file, pdf = (out / state / f"{name}.{ending}" for ending in ("log", "pdf"))
    report = log.parse(log_file.read_text(errors="replace") if log_file.is_file() else "", out)
    if run.timed_out or report.errors or not pdf.is_file():
        shutil.rmtree(out / state)
        raise log.latex_failure(report, f"out/chapters/{name}.tex", run.output)
    if faults := [str(warning) for warning in report.warnings if not warning.kind.startswith("undefined")]:
        raise LatexError(f"{counted(len(faults), 'fault')}, though LaTeX made a PDF:\n" + "\n".join(faults), str(pdf))
    return pdf.read_bytes()


def exhibit_steps(root: Path, name: str) -> list[str]:
    """Return the keys of the steps that make a chapter's exhibits: its tables, and the pictures of its figures."""
    kinds = {"table": "table", "figure": "picture"}
    file = f"paper/chapters/{name}.tex.j2"
    dependencies = calls.dependencies(text_of(root, file, SpecError), file)
    return list(dict.fromkeys(f"{kinds[kind]}:{exhibit}" for kind, exhibit, _ in dependencies if kind in kinds))
