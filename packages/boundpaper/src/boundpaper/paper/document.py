"""Build the thesis: render `out/thesis.tex` from its template, and compile it to a PDF."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.build import process
from boundpaper.errors import LatexError, SpecError
from boundpaper.paper import bibliography, calls, crate, lint, looks, metadata, xmp
from boundpaper.paper.edition import read as edition_of
from boundpaper.paper.edition import site_address
from boundpaper.paper.metadata import Metadata
from boundpaper.paper.tex import bibtex, formats, latex, log, passes
from boundpaper.store import files
from boundpaper.store.text_file import text_of
from boundpaper.suggestions import or_known
from boundpaper.typeset.plural import counted
from boundpaper.typeset.templates import environment
from boundpaper.typeset.words_of import plain_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boundpaper.build.job import Job

STATE = "state/latex/thesis"  # folder, below `out`, of auxiliary files that speed up the next build
DRAFT = "state/latex/draft"  # folder, below `out`, in which a thesis with errors is typeset
MISSING = r"""\makeatletter\let\press@input\input
\renewcommand*{\input}[1]{\IfFileExists{#1.tex}{\press@input{#1}}{\par\fbox{\texttt{\detokenize{#1}} is not built}\par}}
\makeatother
"""  # makes a draft print a note in place of a file that is not built
RUNNING = "running"  # a file that exists during a run, by which the incomplete files of a killed run are recognised


def build(job: Job) -> dict[str, str | bytes]:
    """Write `out/thesis.tex` and compile it to `out/thesis.pdf`.

    The `.tex` is written even if compilation fails or there is no LaTeX. Raises SpecError with all unknown citations
    and references and all faults in the metadata, each with file and line; MissingDependency without LaTeX. Raises
    LatexError with LaTeX's errors, or, if there are none, with all undefined references and citations, missing
    characters and boxes that are more than 5 pt too wide.
    """
    paper = metadata.read(job.root)
    text = render(job.root, paper)
    files.write(job.root / "out" / "thesis.tex", text.encode())
    _check(job.root, paper)
    return {"out/thesis.tex": text, "out/thesis.pdf": compile_thesis(job.root)}


def prepare(root: Path) -> None:
    """Precompile the preamble of the thesis."""
    _precompile(root / "out", render(root, metadata.read(root)))


def _precompile(out: Path, text: str) -> str:
    """Return the name of the TeX format of the thesis' preamble; create the format if it does not exist."""
    return formats.ensure(out, text, "thesis.tex", "logs/preamble.log", latex.PASS_TIMEOUT)


def render(root: Path, paper: Metadata, *, preview: int = 0) -> str:
    """Return the text of `thesis.tex`: preamble, title page, abstract, lists, chapters, appendices, bibliography.

    A preview has only the chapter with the number `preview`, without title page and lists.
    """
    import jinja2

    from boundpaper.typeset.text import escape, prose

    edition = edition_of(root)
    site = edition.site or (site_address(paper.site) if paper.site else "")
    file, template = looks.template(root)
    titles = ("title", "subtitle", "author", "institution", "date", "version", "licence")
    info = {
        "title": plain_words(paper.title),
        "author": plain_words(paper.author) or crate.cited_authors(root),
        "subject": f"Artifacts of {edition.words}" if edition.words else "",
        "keywords": ", ".join(map(plain_words, paper.keywords)),
        "creator": "LaTeX with hyperref",
        "producer": "pdfTeX",
    }
    packet = xmp.packet(**info)
    try:
        return (
            environment()
            .from_string(template)
            .render(
                {name: prose(getattr(paper, name), "latex") for name in titles},
                placed=_authors_with_places(paper),
                keywords=[prose(word, "latex") for word in paper.keywords],
                authors=prose(paper.author, "latex") or escape(crate.cited_authors(root), "latex"),
                preamble=looks.preamble(root),
                template=file,
                preview=preview,
                abstract="abstract" in metadata.templates(root) and not preview,
                chapters=paper.chapters,
                appendices=paper.appendices,
                revision=edition.words,
                xmp=packet,
                identity=hashlib.sha256(packet.encode()).hexdigest()[:32],
                info={name: escape(value, "latex") for name, value in info.items()},
                site=site,
                printed=site if "://" in site else "",
            )
        )
    except jinja2.TemplateError as error:
        raise SpecError(f"{file}:{getattr(error, 'lineno', 0) or 0}: {error.message}") from error


def _authors_with_places(paper: Metadata) -> list[tuple[str, str]]:
    """Return name and affiliation of each author in LaTeX; empty if no author has an affiliation."""
    from boundpaper.typeset.text import prose

    if not any(author.affiliation for author in paper.authors):
        return []
    return [(prose(author.name, "latex"), prose(author.affiliation, "latex")) for author in paper.authors]


def compile_thesis(root: Path) -> bytes:
    """Compile `out/thesis.tex` and return the PDF; the log goes to `out/logs/thesis.log`.

    Auxiliary files of the last run speed up this run. Files of a killed run are discarded, and a failure with old
    auxiliary files counts only if it recurs without them. All exhibits and chapters must be in the output folder.
    """
    state = root / "out" / STATE
    if (state / RUNNING).exists():
        shutil.rmtree(state)
    while True:
        is_fresh = not (state / "thesis.aux").exists()
        try:
            return _run_latex(root)
        except LatexError:
            if is_fresh or state.exists():
                raise


def _run_latex(root: Path) -> bytes:
    """Run LaTeX and return the PDF; if LaTeX fails or takes too long, remove the folder of auxiliary files."""
    out = root / "out"
    state = out / STATE
    files.write(state / RUNNING, b"")
    files.write(state / "references.bib", bibliography.read(root).checked().text.encode())
    process.require("pdflatex")
    text = (out / "thesis.tex").read_text(encoding="utf-8")
    fmt = _precompile(out, text)
    if not (state / "thesis.aux").exists():
        passes.first_passes(out, "thesis.tex", STATE, fmt=fmt, formats=formats.FOLDER)
    run = _run_single_pass(out, fmt) or latex.latexmk(
        "thesis.tex", cwd=out, output=STATE, fmt=fmt, formats=formats.FOLDER
    )
    report = log.read(out, f"{STATE}/thesis.log", "logs/thesis.log")
    if run.timed_out or run.returncode or report.errors:
        if run.timed_out:
            raise LatexError("LaTeX took too long and was stopped", "out/thesis.tex", 0, looks.template(root)[0])
        complaints = bibtex.bibtex_complaints(state / "thesis.blg")
        # Incomplete auxiliary files of a stopped run would make the next run fail.
        shutil.rmtree(state)
        if complaints and not report.errors:
            raise LatexError("bibtex: " + "; ".join(complaints), bibliography.FILE)
        raise log.latex_failure(_all_errors(out, report), "out/thesis.tex", run.output)
    (state / RUNNING).unlink()
    faults = [f"out/{finding}" if finding.file else str(finding) for finding in report.warnings]
    faults += [f"{bibliography.FILE}: {complaint}" for complaint in bibtex.bibtex_complaints(state / "thesis.blg")]
    if faults:
        raise LatexError(
            f"{counted(len(faults), 'fault')}, though LaTeX made a PDF:\n" + "\n".join(faults), "out/thesis.tex"
        )
    return (state / "thesis.pdf").read_bytes()


def _run_single_pass(out: Path, fmt: str) -> process.CompletedProgram | None:
    """Run a single pass; return None if latexmk must run, since the pass failed or a single pass does not suffice.

    A single pass suffices if no page number changes, as with most changes of tables and figures. It does not suffice if
    auxiliary files are missing, or if they or the bibliography change.
    """
    state = out / STATE
    before = _auxiliary_hashes(state)
    bib, bbl = state / "references.bib", state / "thesis.bbl"
    if not {".aux", ".bbl"} <= {path.suffix for path in before} or bib.stat().st_mtime_ns > bbl.stat().st_mtime_ns:
        return None
    run = latex.pdflatex(
        "thesis.tex", cwd=out, output=STATE, job="thesis", fmt=fmt, formats=formats.FOLDER, record=True
    )
    log_file = state / "thesis.log"
    if run.timed_out or run.returncode or not log_file.is_file():
        return None
    report = log.parse(log_file.read_text(encoding="utf-8", errors="replace"), out)
    after = _auxiliary_hashes(state)
    is_unchanged = all(after.get(path) == digest for path, digest in before.items())
    return run if is_unchanged and not report.errors and not report.needs_rerun else None


def _auxiliary_hashes(state: Path) -> dict[Path, str]:
    """Return hashes of the auxiliary files that the next run reads."""
    paths = (state / f"thesis.{suffix}" for suffix in ("aux", "toc", "lof", "lot", "out", "bbl"))
    return {path: files.digest(path) for path in paths if path.is_file()}


def _all_errors(out: Path, report: log.Log) -> log.Log:
    """Return all errors of the document: those in `report`, and those after the error at which the run stopped."""
    if not report.errors:
        return report
    full_report, _ = _run_past_errors(out, "thesis.tex")
    keys = {(error.file, error.line, error.message) for error in report.errors}
    later_errors = tuple(error for error in full_report.errors if (error.file, error.line, error.message) not in keys)
    return replace(report, errors=(*report.errors, *later_errors))


def draft_thesis(root: Path) -> list[str]:
    """Typeset the thesis from the parts that are built, despite errors, with a note for each missing part.

    Return LaTeX's errors, one per line. Write the PDF, if LaTeX made one, to `out/thesis-draft.pdf`; `out/thesis.pdf`
    stays unchanged.
    """
    process.require("pdflatex")
    out = root / "out"
    text = render(root, metadata.read(root)).replace(r"\begin{document}", MISSING + r"\begin{document}", 1)
    name = f"{DRAFT}.tex"
    files.write(out / name, text.encode())
    report, pdf = _run_past_errors(out, name)
    if pdf:
        files.write(out / "thesis-draft.pdf", pdf)
    return [f"out/{error}" if error.file else str(error) for error in report.errors]


def _run_past_errors(out: Path, document: str) -> tuple[log.Log, bytes]:
    """Run LaTeX once in a temporary folder, continuing after errors; return its log, and the PDF or empty bytes."""
    scratch = out / DRAFT
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    latex.pdflatex_despite_errors(document, cwd=out, output=DRAFT, job="thesis")
    log_file, pdf = scratch / "thesis.log", scratch / "thesis.pdf"
    report = log.Log((), (), False)
    if log_file.is_file():
        report = log.parse(log_file.read_text(encoding="utf-8", errors="replace"), out)
    content = pdf.read_bytes() if pdf.is_file() else b""
    shutil.rmtree(scratch)
    return report, content


def _check(root: Path, paper: Metadata) -> None:
    names = ["abstract"] if "abstract" in metadata.templates(root) else []
    names += [*paper.chapters, *paper.appendices]
    paths = [f"paper/chapters/{name}.tex.j2" for name in names]
    templates = {path: text_of(root, path, SpecError) for path in paths}
    references = bibliography.read(root)
    findings = [
        *references.faults,
        *lint.find_unknown_citations(templates, references.lines),
        *_cited_by_exhibits(root, templates, references.lines),
    ]
    findings += lint.find_unknown_references(templates) + lint.find_label_faults(templates)
    if findings:
        raise SpecError("\n".join(map(str, findings)))


def _cited_by_exhibits(root: Path, templates: Mapping[str, str], lines: Mapping[str, int]) -> list[lint.ChapterFault]:
    """Return a fault for each key that the caption or a note of an exhibit cites but that the bibliography lacks."""
    findings = []
    for kind, name in dict.fromkeys(call[:2] for text in templates.values() for call in calls.dependencies(text)):
        path = root / "out" / f"{kind}s" / (f"{name}.tex" if kind == "table" else f"{name}.float.tex")
        if kind not in ("table", "figure") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for key in lint.cited_keys(text):
            if key not in lines:
                script = next((root / f"{kind}s").rglob(f"{name}.py"), None)
                source = script.relative_to(root).as_posix() if script else log.origin(text, 0)
                code = (root / source).read_text(encoding="utf-8") if source and (root / source).is_file() else ""
                line = lint.line_of(code, code.index(f"@{key}")) if f"@{key}" in code else 1
                fault = f"the {kind} {name!r} cites {key!r}, which is not in {bibliography.FILE}{or_known(key, lines)}"
                findings.append(lint.ChapterFault(source or f"out/{kind}s/{path.name}", line, fault))
    return findings
