r"""First passes over the thesis: drafts without pages, which write what the last pass reads.

A document that nothing is known of takes latexmk four passes: labels and citations, then the bibliography, then its
citations, then the pages that these moved. The citations stand in the files that are read, so that bibtex can come
first, and two passes without pages leave what a third one only confirms. The first can come before the pictures.
"""

import re
from pathlib import Path

from boundpaper.paper.tex import latex
from boundpaper.store import files

CITED = re.compile(r"\\(?:[Cc]ite[a-z]*+|nocite)\*?(?:\[(?:(?!\\[Cc]ite|\\nocite)[^]])*+\])*+\{([^{}]*)\}")
READ = re.compile(r"\\input\{([^{}]*)\}")
OF_BIBTEX = re.compile(r"\\(bibliographystyle|bibliography)\{([^{}]*)\}")
NOTED = re.compile(r"\\citation\{([^{}]*)\}")
PICTURE = re.compile(r"\\includegraphics\{(figures/[\w.-]++)\}")
PAGE = re.compile(r"\\path \(0,0\) rectangle \(([\d.]++)mm,([\d.]++)mm\);")
BLANK = "blank"  # below the folder of the run: empty pages of the size of pictures that are not drawn yet


def begin(out: Path, document: str, state: str, *, form: str, formats: str) -> None:
    """Write the bibliography and auxiliary files of a document that has none, by a draft; pictures may be missing.

    Whatever goes amiss is left for the run that comes after, which says it.

    Parameters
    ----------
    out : Path
        The output folder.
    document : str
        The `.tex` file, relative to `out`.
    state : str
        Folder of the run's files, relative to `out`; it holds the `.bib` file.
    form, formats : str
        Name and folder of the precompiled preamble.
    """
    job = Path(document).stem
    texts = _texts(out, document)
    keys = _keys(CITED, "\n".join(texts))
    asked = {name: value for text in texts for name, value in OF_BIBTEX.findall(text)}
    if not keys or len(asked) < 2:
        return
    lines = [*(rf"\citation{{{key}}}" for key in sorted(keys)), rf"\bibstyle{{{asked['bibliographystyle']}}}"]
    lines.append(rf"\bibdata{{{asked['bibliography']}}}")
    auxiliary = out / state / f"{job}.aux"
    files.write(auxiliary, "".join(f"{line}\n" for line in (r"\relax", *lines)).encode())
    done = latex.bibtex(f"{state}/{job}", cwd=out, bibliographies=state)
    auxiliary.unlink()
    for picture in PICTURE.findall("\n".join(texts)):
        if not (out / picture).is_file():
            files.write(out / state / BLANK / picture, _blank((out / picture).with_suffix(".tex")))
    if not done.timed_out and not done.returncode:
        _draft(out, document, state, form, formats)


def again(out: Path, document: str, state: str, *, form: str, formats: str) -> None:
    """Set a document once more that `begin` has begun, now with its pictures and with the labels that it found."""
    auxiliary = out / state / f"{Path(document).stem}.aux"
    if auxiliary.exists() and _draft(out, document, state, form, formats):
        texts = "\n".join(_texts(out, document))
        if _keys(NOTED, auxiliary.read_text(encoding="utf-8")) != _keys(CITED, texts):
            latex.bibtex(f"{state}/{Path(document).stem}", cwd=out, bibliographies=state)


def _draft(out: Path, document: str, state: str, form: str, formats: str) -> bool:
    """One pass without pages; whether it came to the end. One that stopped midway leaves no auxiliary file."""
    job = Path(document).stem
    done = latex.pdflatex(
        document,
        cwd=out,
        output=state,
        job=job,
        form=form,
        formats=formats,
        draft=True,
        inputs=(f"{state}/{BLANK}",),
        timeout=latex.PASS_TIMEOUT,
    )
    if done.timed_out or done.returncode:
        (out / state / f"{job}.aux").unlink(missing_ok=True)
        return False
    return True


def _blank(document: Path) -> bytes:
    """An empty PDF of the size that a figure's LaTeX says; of some size where it says none."""
    text = document.read_text(encoding="utf-8") if document.is_file() else ""
    size = PAGE.search(text)
    width, height = (float(side) * 72 / 25.4 for side in (size.groups() if size else (150, 80)))
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width:.3f} {height:.3f}]/Resources<<>>>>",
    )
    made, places = "%PDF-1.5\n", []
    for number, each in enumerate(objects, 1):
        places.append(f"{len(made):010} 00000 n \n")
        made += f"{number} 0 obj\n{each}\nendobj\n"
    table = f"xref\n0 4\n0000000000 65535 f \n{''.join(places)}trailer\n<</Size 4/Root 1 0 R>>\n"
    return f"{made}{table}startxref\n{len(made)}\n%%EOF\n".encode()


def _texts(out: Path, document: str) -> list[str]:
    """The document and every file that it reads, each once."""
    texts: dict[str, str] = {}
    waiting = [document]
    while waiting:
        name = waiting.pop()
        path = out / (name if name.endswith(".tex") else f"{name}.tex")
        if name not in texts and path.is_file():
            texts[name] = path.read_text(encoding="utf-8")
            waiting += READ.findall(texts[name])
    return list(texts.values())


def _keys(pattern: re.Pattern[str], text: str) -> set[str]:
    return {key.strip() for group in pattern.findall(text) for key in group.split(",")}
