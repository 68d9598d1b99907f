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

PREVIEWS = "state/latex/chapters"  # below the output folder: files that speed up the next preview


def compile_chapter(root: Path, name: str) -> bytes:
    """Compile one chapter with its number, without title page and lists; references to other chapters print `??`.

    The chapter and its exhibits must be in the output folder. Raises LatexError with LaTeX's error, or boxes over 5 pt
    too wide; SpecError for a label defined twice, or an exhibit shown twice.
    """
    file = f"paper/chapters/{name}.tex.j2"
    if twice := lint.find_label_faults({file: text_of(root, file, SpecError)}):
        raise SpecError("\n".join(map(str, twice)))
    out = root / "out"
    state = f"{PREVIEWS}/{name}"
    paper = metadata.read(root)
    last = name in paper.appendices
    alone = replace(paper, chapters=() if last else (name,), appendices=(name,) if last else ())
    part = paper.appendices if last else (*paper.chapters, name)
    text = document.render(root, alone, preview=part.index(name) + 1)
    files.write(out / state / f"{name}.tex", text.encode())
    files.write(out / state / "references.bib", bibliography.read(root).sound().text.encode())
    process.require("pdflatex")
    form = formats.ensure(out, text, f"{state}/{name}.tex", "logs/preamble.log", latex.PASS_TIMEOUT)
    done = latex.latexmk(f"{state}/{name}.tex", cwd=out, output=state, form=form, formats=formats.FOLDER)
    log_file, pdf = (out / state / f"{name}.{end}" for end in ("log", "pdf"))
    report = log.parse(log_file.read_text(errors="replace") if log_file.is_file() else "", out)
    if done.timed_out or report.errors or not pdf.is_file():
        shutil.rmtree(out / state)
        raise log.latex_failure(report, f"out/chapters/{name}.tex", done.output)
    if faults := [str(finding) for finding in report.warnings if not finding.kind.startswith("undefined")]:
        raise LatexError(f"{counted(len(faults), 'fault')}, though LaTeX made a PDF:\n" + "\n".join(faults), str(pdf))
    return pdf.read_bytes()


def exhibit_steps(root: Path, name: str) -> list[str]:
    """Return the keys of the steps that make a chapter's exhibits: its tables, and the pictures of its figures."""
    kinds = {"table": "table", "figure": "picture"}
    file = f"paper/chapters/{name}.tex.j2"
    uses = calls.dependencies(text_of(root, file, SpecError), file)
    return list(dict.fromkeys(f"{kinds[kind]}:{each}" for kind, each, _ in uses if kind in kinds))
