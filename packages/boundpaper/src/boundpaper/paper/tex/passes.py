r"""Run the first passes over the thesis as drafts, which write auxiliary files but no PDF.

Without auxiliary files, latexmk needs four passes: for labels and cited keys, for the bibliography, for the printed
citations, and for moved pages. Here the cited keys are read from the LaTeX files, so that bibtex can run first. After
two drafts, a single pass is then enough.
"""

import re
from pathlib import Path

from boundpaper.paper.tex import latex
from boundpaper.store import files

CITE = re.compile(r"\\(?:[Cc]ite[a-z]*+|nocite)\*?(?:\[(?:(?!\\[Cc]ite|\\nocite)[^]])*+\])*+\{([^{}]*)\}")
INPUT = re.compile(r"\\input\{([^{}]*)\}")
BIBTEX_SETTING = re.compile(r"\\(bibliographystyle|bibliography)\{([^{}]*)\}")
AUX_CITATION = re.compile(r"\\citation\{([^{}]*)\}")
DRAFTS = 2


def first_passes(out: Path, document: str, state: str, *, fmt: str, formats: str) -> None:
    """Write the bibliography and the auxiliary files of a document by draft passes, if it has citations.

    Errors are ignored, since the next run reports them. `document` and `state` are relative to `out`; `state` is the
    folder of auxiliary files and of the `.bib` file. `fmt` and `formats` are name and folder of the precompiled
    preamble.
    """
    job = Path(document).stem
    texts = _input_texts(out, document)
    keys = _keys_matching(CITE, "\n".join(texts))
    settings = {name: value for text in texts for name, value in BIBTEX_SETTING.findall(text)}
    if not keys or len(settings) < 2:
        return
    lines = [r"\relax", *(rf"\citation{{{key}}}" for key in sorted(keys))]
    lines += [rf"\bibstyle{{{settings['bibliographystyle']}}}", rf"\bibdata{{{settings['bibliography']}}}", ""]
    aux_file = out / state / f"{job}.aux"
    files.write(aux_file, "\n".join(lines).encode())
    run = latex.bibtex(f"{state}/{job}", cwd=out, bibliographies=state)
    aux_file.unlink()
    for _ in range(DRAFTS):
        if not run.timed_out and not run.returncode:
            run = latex.pdflatex(document, cwd=out, output=state, job=job, fmt=fmt, formats=formats, draft=True)
    if run.timed_out or run.returncode:
        aux_file.unlink(missing_ok=True)  # the failed draft left it incomplete
    elif _keys_matching(AUX_CITATION, aux_file.read_text(encoding="utf-8")) != keys:
        latex.bibtex(f"{state}/{job}", cwd=out, bibliographies=state)


def _input_texts(out: Path, document: str) -> list[str]:
    """Return the texts of the document and of every file that it inputs, each once."""
    texts: dict[str, str] = {}
    unread_files = [document]
    while unread_files:
        name = unread_files.pop()
        path = out / (name if name.endswith(".tex") else f"{name}.tex")
        if name not in texts and path.is_file():
            texts[name] = path.read_text(encoding="utf-8")
            unread_files += INPUT.findall(texts[name])
    return list(texts.values())


def _keys_matching(pattern: re.Pattern[str], text: str) -> set[str]:
    return {key.strip() for keys in pattern.findall(text) for key in keys.split(",")}
