"""Pack the project's files that pdflatex read, and the `.bbl`, into a reproducible archive.

The archive for arXiv, a `.tar.gz`, has the figures and one `thesis.tex` with all chapters and tables. The archive for
an editor such as Overleaf, a `.zip`, has the unchanged files and the bibliography.
"""

import gzip
import io
import re
import tarfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from boundpaper.errors import LatexError, SpecError
from boundpaper.paper.document import STATE
from boundpaper.paper.tex import latex, log, pdf
from boundpaper.store.files import temporary

MAX_PASSES = 5
BIBLIOGRAPHY = "references.bib"
PICTURES = (".pdf", ".png")
_INPUT = re.compile(r"(?m)\\input\{(?P<name>[^{}]+)\}(?=(?P<rest>[^\n]*))")


def bundle_files(out: Path) -> list[str]:
    """Return the sorted files of the bundle, relative to the output folder, except `thesis.bbl`.

    LaTeX recorded these files when it read them, so the list is complete and has no unused files. Raises SpecError when
    the thesis has not been compiled.
    """
    record = out / STATE / "thesis.fls"
    if not record.is_file() or not (out / STATE / "thesis.bbl").is_file():
        raise SpecError("the thesis has not been compiled yet: run `python build.py paper` first")
    inputs = re.findall(r"(?m)^INPUT (.*)$", record.read_text(encoding="utf-8"))
    names = {name.removeprefix("./") for name in inputs if not Path(name).is_absolute()}
    return sorted(name for name in names if not name.startswith("state/") and (out / name).is_file())


def make(out: Path, *, flat: bool = True) -> bytes:
    """Return the bundle, with sorted files and fixed times, owners and modes.

    A `flat` bundle is a `.tar.gz` of one `.tex` and the figures. Else the bundle is a `.zip` for an editor; its files
    keep their paths, and it has `references.bib`. `out` is the output folder of a compiled thesis. Raises SpecError
    when the thesis has not been compiled, two files would get the same name, or a text contains the path of a folder
    on this machine.
    """
    members = {name: (out / name).read_bytes() for name in bundle_files(out)}
    members = flatten(members) if flat else members | {"references.bib": (out / STATE / BIBLIOGRAPHY).read_bytes()}
    members["thesis.bbl"] = (out / STATE / "thesis.bbl").read_bytes()
    for name, content in members.items():
        if not name.endswith(PICTURES) and str(out.resolve().parent).encode() in content:
            raise SpecError(f"{name}: contains the local path {out.resolve().parent}; remove it")
    return _tar_files(members) if flat else zip_files(members)


def _tar_files(members: Mapping[str, bytes]) -> bytes:
    """Return a `.tar.gz` of files, given their contents by path."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=int(latex.EPOCH)) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, content in sorted(members.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), int(latex.EPOCH), 0o644
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zip_files(members: Mapping[str, bytes]) -> bytes:
    """Return a `.zip` of files, given their contents by path."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(members.items()):
            member = zipfile.ZipInfo(name, time.gmtime(int(latex.EPOCH))[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system, member.external_attr = 3, 0o100644 << 16  # as on Unix, whatever the system
            archive.writestr(member, content)
    return buffer.getvalue()


def unpack(bundle: bytes, folder: Path) -> None:
    """Unpack a bundle that `make` returned into a folder."""
    if zipfile.is_zipfile(io.BytesIO(bundle)):
        with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
            archive.extractall(folder)
        return
    with tarfile.open(fileobj=io.BytesIO(bundle), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")


def flatten(members: Mapping[str, bytes]) -> dict[str, bytes]:
    r"""Return the files of a flat bundle: a `thesis.tex` with the texts of all inputs, and the pictures."""
    texts = {name: content.decode() for name, content in members.items() if name.endswith(".tex")}
    pictures: dict[str, bytes] = {}
    flat_names: dict[str, str] = {}
    for name in members:
        if name not in texts:
            flat_names[name] = name.replace("/", "-")
            if flat_names[name] in pictures:
                raise SpecError(f"{name}: two files of the bundle would be called {flat_names[name]}; rename one")
            pictures[flat_names[name]] = members[name]
    text = _inline_inputs("thesis.tex", texts, ())
    for name, flat in flat_names.items():
        text = text.replace(f"{{{name}}}", f"{{{flat}}}")
    return {**pictures, "thesis.tex": text.encode()}


def _inline_inputs(name: str, texts: Mapping[str, str], parents: tuple[str, ...]) -> str:
    if name in parents:
        raise SpecError(f"{name}: inputs itself through {' and '.join(parents)}; remove one \\input")

    def inlined(match: re.Match[str]) -> str:
        file = match["name"] if match["name"] in texts else f"{match['name']}.tex"
        if file not in texts:
            return match[0]
        # TeX adds a line end after a file, so the rest of the line follows on a new line.
        return _inline_inputs(file, texts, (*parents, name)).rstrip("\n") + ("\n" if match["rest"].strip() else "")

    return _INPUT.sub(inlined, texts[name])


_LINK = re.compile(r"\\(?:numberof|verdictof|siterow)\{[^{}]*\}(?=\{)")
_INVISIBLE = re.compile(r"\\(?:pressentry|verdictpage)\{[^{}]*\}")
_VERDICT = re.compile(r"\\verdict(?P<kind>mark\{[^{}]*\}|sign)\{(?P<word>\w+)\}")
_SIGN = re.compile(r"\\@namedef\{sign@(\w+)\}\{([^{}]*)\}")


def converters_text(text: str) -> str:
    """Return a flattened thesis for converters to other formats: without links, and with verdicts as signs."""
    preamble, begin, body = text.partition("\\begin{document}")
    signs = dict(_SIGN.findall(preamble))

    def sign(match: re.Match[str]) -> str:
        formula = f"${signs.get(match['word'], '?')}$"
        return formula if match["kind"] == "sign" else f"\\textsuperscript{{{formula}}}"

    return preamble + begin + _VERDICT.sub(sign, _INVISIBLE.sub("", _LINK.sub("", body)))


def dry_run(bundle: bytes, folder: Path) -> bytes:
    """Compile a bundle in an empty folder as arXiv does, with pdflatex and without bibtex.

    `folder` must be empty. Return the PDF, which should equal that of the thesis. Raises LatexError when the bundle
    does not compile, or has undefined references.
    """
    if any(folder.iterdir()):
        raise SpecError(f"{folder}: not empty; the test compilation needs an empty folder")
    unpack(bundle, folder)
    for _ in range(MAX_PASSES):
        run = latex.pdflatex("thesis.tex", cwd=folder, output=".", job="thesis", timeout=latex.PASS_TIMEOUT)
        text = (folder / "thesis.log").read_text(encoding="utf-8", errors="replace") if not run.timed_out else ""
        report = log.parse(text, folder)
        if run.returncode or report.errors:
            raise log.latex_failure(report, "thesis.tex", run.output)
        if not report.needs_rerun and not any(warning.kind.startswith("undefined") for warning in report.warnings):
            return (folder / "thesis.pdf").read_bytes()
    faults = "\n".join(map(str, report.warnings)) or "LaTeX still requests another pass"
    raise LatexError(f"the bundle is not fully compiled after {MAX_PASSES} passes:\n{faults}", "thesis.tex")


def try_out(bundle: bytes, thesis: bytes) -> None:
    """Check that a bundle compiles in an empty folder to a PDF with as many pages as the thesis and the same words.

    Raises LatexError when it does not compile, or when the number of pages or the words differ.
    """
    with temporary() as folder:
        compiled = dry_run(bundle, folder)
    if compiled == thesis:
        return
    if (pdf.page_count(compiled), pdf.whole_text(compiled)) != (pdf.page_count(thesis), pdf.whole_text(thesis)):
        raise LatexError("the pages of the bundle differ from those of out/thesis.pdf, so the bundle is not written")
