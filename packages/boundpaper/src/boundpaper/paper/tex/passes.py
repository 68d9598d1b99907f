r"""Run the first passes over the thesis as drafts without PDF, which write the auxiliary files for the last pass.

Without auxiliary files, latexmk needs four passes: labels and citations, then the bibliography, then its citations,
then the pages that these moved. Here the citations are read from the LaTeX files, so that bibtex can run first, and
after two drafts one last pass is enough.
"""

import re
from pathlib import Path

from boundpaper.paper.tex import latex
from boundpaper.store import files

CITED = re.compile(r"\\(?:[Cc]ite[a-z]*+|nocite)\*?(?:\[(?:(?!\\[Cc]ite|\\nocite)[^]])*+\])*+\{([^{}]*)\}")
READ = re.compile(r"\\input\{([^{}]*)\}")
OF_BIBTEX = re.compile(r"\\(bibliographystyle|bibliography)\{([^{}]*)\}")
NOTED = re.compile(r"\\citation\{([^{}]*)\}")
DRAFTS = 2


def first_passes(out: Path, document: str, state: str, *, form: str, formats: str) -> None:
    """Write bibliography and auxiliary files of a document that has none, with draft passes.

    Errors are ignored, since the next run reports them. `document` and `state` are relative to `out`; `state` is the
    folder of auxiliary files and the `.bib` file. `form` and `formats` are name and folder of the precompiled preamble.
    """
    job = Path(document).stem
    texts = _texts_read(out, document)
    keys = _keys_matching(CITED, "\n".join(texts))
    settings = {name: value for text in texts for name, value in OF_BIBTEX.findall(text)}
    if not keys or len(settings) < 2:
        return
    lines = [*(rf"\citation{{{key}}}" for key in sorted(keys)), rf"\bibstyle{{{settings['bibliographystyle']}}}"]
    lines.append(rf"\bibdata{{{settings['bibliography']}}}")
    auxiliary = out / state / f"{job}.aux"
    files.write(auxiliary, "".join(f"{line}\n" for line in (r"\relax", *lines)).encode())
    done = latex.bibtex(f"{state}/{job}", cwd=out, bibliographies=state)
    auxiliary.unlink()
    for _ in range(DRAFTS):
        if not done.timed_out and not done.returncode:
            done = latex.pdflatex(document, cwd=out, output=state, job=job, form=form, formats=formats, draft=True)
    if done.timed_out or done.returncode:
        auxiliary.unlink(missing_ok=True)  # incomplete after a draft that stopped
    elif _keys_matching(NOTED, auxiliary.read_text(encoding="utf-8")) != keys:
        latex.bibtex(f"{state}/{job}", cwd=out, bibliographies=state)


def _texts_read(out: Path, document: str) -> list[str]:
    """Return the texts of the document and of every file that it inputs, each once."""
    texts: dict[str, str] = {}
    waiting = [document]
    while waiting:
        name = waiting.pop()
        path = out / (name if name.endswith(".tex") else f"{name}.tex")
        if name not in texts and path.is_file():
            texts[name] = path.read_text(encoding="utf-8")
            waiting += READ.findall(texts[name])
    return list(texts.values())


def _keys_matching(pattern: re.Pattern[str], text: str) -> set[str]:
    return {key.strip() for group in pattern.findall(text) for key in group.split(",")}
