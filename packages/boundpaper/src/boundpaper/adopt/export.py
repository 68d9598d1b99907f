"""Export a paper as an archive, a PDF with marked changes, a Word file or an HTML page."""

import io
import os
import re
import shutil
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from boundpaper.adopt import flatten, revision, source
from boundpaper.adopt.folder import Folder, read
from boundpaper.adopt.generate import AdoptedPaper
from boundpaper.adopt.numerals import replace_between, typed_numbers
from boundpaper.build import process
from boundpaper.errors import SpecError, ThesisError
from boundpaper.places import ADOPTED, MARK, VARIABLE

TIMEOUT = 600.0
RULE_COMMAND = "\\newcommand\\boundrule[2]{\\cmidrule(#1){#2}}\n"
PICTURE_SUFFIXES = (".pdf", ".png", ".jpg", ".jpeg", ".eps", ".pgf")
_INCLUDE_COMMAND = re.compile(r"\\includegraphics\*?\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_BIBLIOGRAPHY = re.compile(r"\\(?:bibliography|addbibresource|printbibliography)\b")
_SEPARATOR = re.compile("(?<=\\d)[,\u2009\u202f\u00a0\\s](?=\\d{3}(?!\\d))")
_SILENT_ELEMENT = re.compile(r"<(style|script|annotation|head)\b")
_CMIDRULE = re.compile(r"\\cmidrule\s*\(([^()]*)\)\s*\{([^{}]*)\}")
_STARRED_FLOAT = re.compile(r"(\\(?:begin|end)\{(?:table|figure))\*\}")
_DRAWING = re.compile(r"\\begin\{(tikzpicture|pgfpicture|picture|axis)\}")


def zip_for_arxiv(folder: Folder) -> bytes:
    """Return a ZIP archive of the files that LaTeX reads, `bound/` and the `.bbl` among them.

    Raises SpecError when the paper has a bibliography but no `.bbl`, which arXiv requires.
    """
    paper = AdoptedPaper.read(folder)
    code = "\n".join(file.code for file in paper.sources)
    paths = {file.path for file in paper.sources} | {path for path in folder.generated.rglob("*") if path.is_file()}
    picture_stems = {Path(name.strip()).stem for name in _INCLUDE_COMMAND.findall(code)}
    for path in flatten.latex_inputs(folder):
        is_picture = path.suffix in PICTURE_SUFFIXES
        if path.stem in picture_stems if is_picture else path.suffix not in (".tex", ".ltx", ".dat"):
            paths.add(path)
    for main in folder.mains if _BIBLIOGRAPHY.search(code) else ():
        if not (folder.root / main).with_suffix(".bbl").is_file():
            stem = Path(main).stem
            raise SpecError(f"{stem}.bbl: absent, but arXiv requires it; run `latexmk -pdf {stem}` first")
    return _zip_files(folder, paths)


def zip_for_editor(folder: Folder, since: str) -> bytes:
    """Return a ZIP archive of `bound/` and the files that differ from a git revision, for an online editor."""
    revision.require_revision(folder.root, since)
    changed_names = revision.git_output(folder.root, "diff", "--name-only", "--relative", "-z", since, "--", ".") or b""
    untracked_names = revision.git_output(folder.root, "ls-files", "--others", "--exclude-standard", "-z") or b""
    changed_paths = {folder.root / name.decode() for name in (changed_names + untracked_names).split(b"\0") if name}
    paths = {path for path in flatten.latex_inputs(folder) if path in changed_paths}
    return _zip_files(folder, paths | {path for path in folder.generated.rglob("*") if path.is_file()})


def _zip_files(folder: Folder, paths: set[Path]) -> bytes:
    from boundpaper.paper.bundle import zip_files

    for path in paths:
        if not path.is_relative_to(folder.paper):
            raise SpecError(f"{folder.shown(path)}: is outside {folder.paper.name}, where LaTeX runs; move it there")
    return zip_files({path.relative_to(folder.paper).as_posix(): path.read_bytes() for path in sorted(paths)})


def pdf_with_changes(folder: Folder, since: str, scratch: Path) -> bytes:
    """Return a PDF of the paper in which the differences from a git revision are marked.

    latexdiff compares flattened files, and so marks a bound number only if its printed value has changed. Raises
    ThesisError when the revision is unknown, a program is not installed, or LaTeX cannot compile the result.
    """
    process.require("latexdiff")
    old_folder = revision.unpack_files(folder.root, since, scratch / "before")
    if (old_folder / ADOPTED).is_file():
        old_paper = read(old_folder)
        flatten.write_flattened(old_paper, scratch / "old")
    else:
        shutil.copytree(old_folder / folder.paper.relative_to(folder.root), scratch / "old")
    flatten.write_flattened(folder, scratch / "new")
    main = Path(folder.mains[0]).name
    if not (scratch / "old" / main).is_file():
        raise SpecError(f"{main}: absent at {since}; name a revision that contains it")
    return latexdiff_pdf(scratch, main)


def chapters_with_changes(root: Path, since: str, scratch: Path) -> bytes:
    """Return a PDF of a paper built from chapters, in which the differences from a git revision are marked.

    `scratch/new` must contain the present paper, flattened. The `build.py` of the revision builds the old paper in
    `scratch`. Raises ThesisError when the revision is unknown or does not build here, a program is not installed, or
    LaTeX cannot compile the result.
    """
    from boundpaper.paper.bundle import converters_text

    process.require("latexdiff")
    old_folder = revision.unpack_files(root, since, scratch / "before")
    if not (old_folder / MARK).is_file():
        raise SpecError(f"{since} contains no paper ({MARK} is absent); name a revision that contains one")
    program = ("build.py",) if (old_folder / "build.py").is_file() else ("-m", "boundpaper")
    argv = (sys.executable, *program, "flatten", "-o", str(scratch / "old"))
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    result = process.run(argv, old_folder, TIMEOUT, environment)
    if result.returncode:
        last_lines = "\n".join(result.output.replace(f"{old_folder}/", "").strip().splitlines()[-2:])
        raise ThesisError(
            f"{since} does not build here, so nothing can be marked; name another revision:\n{last_lines}"
        )
    for path in (scratch / "old/thesis.tex", scratch / "new/thesis.tex"):
        path.write_text(converters_text(path.read_text(encoding="utf-8")), encoding="utf-8")
    return latexdiff_pdf(scratch, "thesis.tex")


def latexdiff_pdf(scratch: Path, main: str) -> bytes:
    """Return a PDF of a main file in `scratch/new`, in which differences from the file in `scratch/old` are marked."""
    for path in [*(scratch / "old").rglob("*.tex"), *(scratch / "new").rglob("*.tex")]:
        file = source.read(path, path.name)  # latexdiff would split \cmidrule(lr){2-3}, and LaTeX would never end
        path.write_bytes(file.encoded(_CMIDRULE.sub(r"\\boundrule{\1}{\2}", file.text)))
    has_ulem = process.run(("kpsewhich", "ulem.sty"), scratch, TIMEOUT).output.strip()
    style = "UNDERLINE" if has_ulem else "CFONT"
    argv = ("latexdiff", "--flatten", f"--type={style}", f"old/{main}", f"new/{main}")
    result = process.run(argv, scratch, TIMEOUT)
    begin = result.output.find("\\documentclass")
    if result.returncode or begin < 0:
        raise ThesisError(f"latexdiff: {result.output.strip().splitlines()[-1] if result.output else 'failed'}")
    (scratch / "new/changes.tex").write_text(
        RULE_COMMAND + result.output[max(result.output.rfind("\n%", 0, begin), 0) :], encoding="utf-8"
    )
    return compile_pdf(scratch / "new", "changes.tex")


def compile_pdf(folder: Path, document: str) -> bytes:
    """Return the PDF of a document that latexmk compiles in its folder; raise ThesisError with LaTeX's message."""
    from boundpaper.paper.tex import latex, log

    process.require("latexmk", "pdflatex")
    fonts = dict.fromkeys(("MKTEXPK", "MKTEXTFM", "MKTEXMF"), "1")  # LaTeX may generate an author's fonts on first use
    environment = latex.environment(bibliographies=".") | fonts
    argv = ("latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-file-line-error", document)
    result = process.run(argv, folder, TIMEOUT, environment)
    pdf = folder / f"{Path(document).stem}.pdf"
    if result.returncode or not pdf.is_file():
        errors = log.read(folder, f"{Path(document).stem}.log", "kept.log").errors
        raise ThesisError(f"{document}: {errors[0].message if errors else 'LaTeX wrote no PDF'}")
    return pdf.read_bytes()


def convert_adopted(folder: Folder, format: str, scratch: Path) -> tuple[bytes, list[str]]:
    """Return what `convert` returns for the adopted paper in `folder`, after flattening it into `scratch`."""
    flatten.write_flattened(folder, scratch / "plain")
    return convert(scratch / "plain", Path(folder.mains[0]).name, format, first_line=2)  # flattening removed a line


def convert(folder: Path, main: str, format: str, first_line: int = 1) -> tuple[bytes, list[str]]:
    """Return a flattened paper as a Word file (`docx`) or one HTML page, with messages on what is lost.

    Pandoc writes the Word file. LaTeXML writes HTML if it is installed, otherwise pandoc does. PDF figures become PNG
    pictures. In messages, the first line of the main file has the number `first_line`. Raises ThesisError when the
    program is not installed, or writes no output.
    """
    from boundpaper.paper.tex import latex

    flat_folder = Folder(folder, (main,), ("*",))
    _adapt_for_pandoc(folder, [file.path for file in source.sources(flat_folder)])
    uses_latexml = format == "html" and not process.missing("latexmlc")
    if uses_latexml:
        argv: tuple[str, ...] = ("latexmlc", "--dest=paper.html", "--format=html5", "--quiet", main)
    else:
        process.require("pandoc")
        cite_options = ("--citeproc",) if any(folder.glob("*.bib")) else ()
        argv = ("pandoc", "-s", *cite_options, *(("--mathml", "--self-contained") if format == "html" else ()), main)
        argv = (*argv, "-o", f"paper.{format}")
    environment = os.environ | {"SOURCE_DATE_EPOCH": latex.EPOCH}  # otherwise a Word file differs at every call
    result = process.run(argv, folder, TIMEOUT, environment)
    output = folder / f"paper.{format}"
    if result.returncode or not output.is_file():
        last_lines = result.output.strip().splitlines()[-1:] or ["it wrote nothing"]
        raise ThesisError(f"{argv[0]}: {last_lines[0]}")
    return output.read_bytes(), lost_numbers(flat_folder, output.read_bytes(), format, argv[0], first_line)


def _adapt_for_pandoc(folder: Path, paths: list[Path]) -> None:
    """Rewrite LaTeX that pandoc cannot read: PDF figures become PNG, and two-column floats become plain floats."""
    for path in paths:
        file = source.read(path, path.name)
        text = _without_boxes(_STARRED_FLOAT.sub(r"\1}", file.text))
        for name in set(_INCLUDE_COMMAND.findall(file.code)):
            pdf = folder / name if name.endswith(".pdf") else folder / f"{name}.pdf"
            if pdf.is_file():
                argv = ("pdftocairo", "-png", "-singlefile", "-r", "200", str(pdf), str(pdf.with_suffix("")))
                if process.run(argv, folder, TIMEOUT).returncode == 0:
                    text = text.replace(f"{{{name}}}", f"{{{pdf.with_suffix('.png').relative_to(folder).as_posix()}}}")
        if text != file.text:
            path.write_bytes(file.encoded(text))


def _without_boxes(text: str) -> str:
    r"""Return a text in which each boxed table stands in place of its `\usebox`; boxes without a table stay as is."""
    output, *boxes = text.split("\\sbox8{")
    for box in boxes:
        end = box.find("}", max(box.find("\\end{tabular"), 0)) + 1  # the brace after the table closes the box
        before, use, after = box[end:].partition("\n")[2].partition("\\usebox8")
        output += before + box[:end] + after if use and "\\end{tabular" in box else "\\sbox8{" + box
    return output


def lost_numbers(paper: Folder, output: bytes, format: str, program: str, first_line: int) -> list[str]:
    """Return messages on drawings, and on numbers that occur less often in `output` than in the flattened paper."""
    files = source.sources(paper)
    tex_files = [replace(file, first_line=first_line) if file.shown in paper.mains else file for file in files]
    output_counts = Counter(re.findall(r"\d+(?:\.\d+)?|\.\d+", _SEPARATOR.sub("", document_words(output, format))))
    paper_counts: Counter[str] = Counter()
    first_places: dict[str, str] = {}
    for tex in tex_files:
        for numeral in typed_numbers(tex, "boundval"):
            digits = re.sub(r"[^\d.]", "", numeral.text.replace(r"\,", ""))
            paper_counts[digits] += 1
            first_places.setdefault(digits, numeral.place)
    messages = [
        f"{first_places[digits]}: {program} left out {digits} ({count - output_counts[digits]} of {count})"
        for digits, count in paper_counts.items()
        if output_counts[digits] < count
    ]
    return messages + [
        f"{tex.place(match.start())}: {program} leaves out the drawing ({match[1]}); include it as a PDF"
        for tex in tex_files
        for match in _DRAWING.finditer(tex.code)
    ]


def document_words(output: bytes, format: str) -> str:
    """Return the text of a Word file or an HTML page."""
    import html

    if format == "docx":
        with zipfile.ZipFile(io.BytesIO(output)) as archive:
            names = [name for name in archive.namelist() if re.fullmatch(r"word/(document|footnotes)\.xml", name)]
            text = "\n".join(archive.read(name).decode("utf-8") for name in names)
        text = re.sub(r"</(?:w:p|m:oMath|w:tc)>", " ", text)
    else:
        text = replace_between(output.decode("utf-8"), _SILENT_ELEMENT, "</%s>", lambda block: " ")
        text = re.sub(r"\s(?:alt|alttext|title)=\"[^\"]*\"", "", text)
        text = re.sub(r"</?(?:p|td|th|tr|div|li|h\d|math|br|figcaption|caption|section)\b[^<>]*>", " ", text)
    return html.unescape(re.sub(r"<[^<>]*>", "", text))
