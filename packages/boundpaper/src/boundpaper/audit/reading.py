"""Read files as documents; the file's ending selects the reader."""

import shutil
import subprocess
from pathlib import Path

from boundpaper.adopt.source import INPUT_COMMAND, LatexFile
from boundpaper.audit import html, latex, markdown
from boundpaper.audit.documents import ReadDocument, joined
from boundpaper.errors import DataError
from boundpaper.store.text_file import text_of

READERS = dict.fromkeys((".md", ".markdown", ".mdx"), markdown.read) | {".html": html.read}
READERS |= dict.fromkeys((".tex", ".ltx"), latex.read)


def read(path: Path, name: str) -> ReadDocument:
    """Return the document in a file, called `name` in findings; raise DataError if the file cannot be read."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise DataError(f"{name}: no such file; name a document in Markdown, LaTeX, HTML, DOCX or PDF")
    if suffix == ".docx":
        return markdown.read(_converted_by("pandoc", ["-f", "docx", "-t", "gfm", str(path)], name), name)
    if suffix == ".pdf":
        document = ReadDocument(name)
        for block in _converted_by("pdftotext", ["-enc", "UTF-8", str(path), "-"], name).split("\n\n"):
            document.add_sentences(0, " ".join(block.split()))
        return document
    if suffix not in READERS:
        ending = suffix or "a file without an ending"
        raise DataError(f"{name}: {ending} is not supported; give .md, .tex, .html, .docx, .pdf")
    text = text_of(Path(), name)
    return _read_latex(path, name, text) if suffix in (".tex", ".ltx") else READERS[suffix](text, name)


def _read_latex(main: Path, file: str, text: str) -> ReadDocument:
    """Return the document in a LaTeX file and the files that it inputs; it is complete if all these files exist."""
    documents: list[ReadDocument] = []
    pending, seen, is_complete = [(file, text)], {main.resolve()}, not latex.OTHER_DOCUMENTS.search(text)
    while pending:
        name, text = pending.pop()
        documents.append(latex.read(text, name))
        inputs: list[tuple[str, str]] = []
        for match in INPUT_COMMAND.finditer(LatexFile(Path(name), name, text, "utf-8").code):
            target = (match["name"] or match["bare"] or "").strip().strip('"')
            folder = Path(file).parent / (match["folder"] or "").strip()
            path = next(filter(Path.is_file, (folder / f"{target}.tex", folder / target)), None)
            is_complete = is_complete and path is not None
            if path and path.suffix == ".tex" and path.resolve() not in seen:
                seen.add(path.resolve())
                inputs.append((str(path), text_of(Path(), str(path))))
        pending += reversed(inputs)
    return joined(documents, is_complete=is_complete and documents[0].is_complete)


def _converted_by(program: str, arguments: list[str], name: str) -> str:
    """Return the text to which a program converts a file; raise DataError if the program is absent or fails."""
    if shutil.which(program) is None:
        raise DataError(f"{name}: this format needs {program}; install {program}, or give Markdown, LaTeX or HTML")
    result = subprocess.run([program, *arguments], capture_output=True, check=False, timeout=120)
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines() or ["it prints no error"]
        raise DataError(f"{name}: {program} cannot read it: {lines[0][:200]}")
    return result.stdout.decode("utf-8", "replace")
