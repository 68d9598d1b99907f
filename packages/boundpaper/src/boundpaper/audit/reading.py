"""Read files as documents: the ending chooses the reader; an unknown ending is an error that names it."""

import shutil
import subprocess
from pathlib import Path

from boundpaper.adopt.source import READ, LatexFile
from boundpaper.audit import html, latex, markdown
from boundpaper.audit.documents import ReadDocument, together
from boundpaper.errors import DataError
from boundpaper.store.text_file import text_of

READERS = dict.fromkeys((".md", ".markdown", ".mdx"), markdown.read) | {".html": html.read}
READERS |= dict.fromkeys((".tex", ".ltx"), latex.read)


def read(path: Path, shown: str) -> ReadDocument:
    """Read a file by its ending; DataError if it is absent or not text, or if the package that reads it is missing."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise DataError(f"{shown}: no such file; name a document in Markdown, LaTeX, HTML, DOCX or PDF")
    if suffix == ".docx":
        return markdown.read(_through("pandoc", ["-f", "docx", "-t", "gfm", str(path)], shown), shown)
    if suffix == ".pdf":
        document = ReadDocument(shown)
        for block in _through("pdftotext", ["-enc", "UTF-8", str(path), "-"], shown).split("\n\n"):
            document.say(0, " ".join(block.split()))
        return document
    if suffix not in READERS:
        what = suffix or "a file without an ending"
        raise DataError(f"{shown}: {what} cannot be read; give .md, .tex, .html, .docx, .pdf")
    text = text_of(Path(), shown)
    return _with_parts(path, shown, text) if suffix in (".tex", ".ltx") else READERS[suffix](text, shown)


def _with_parts(main: Path, shown: str, text: str) -> ReadDocument:
    """Read a LaTeX file with the files that it inputs; the document is `whole` if all of them exist."""
    read: list[ReadDocument] = []
    waiting, seen, whole = [(shown, text)], {main.resolve()}, not latex.OUTSIDE.search(text)
    while waiting:
        name, content = waiting.pop()
        read.append(latex.read(content, name))
        inner: list[tuple[str, str]] = []
        for match in READ.finditer(LatexFile(Path(name), name, content, "utf-8").code):
            part = (match["name"] or match["bare"] or "").strip().strip('"')
            folder = Path(shown).parent / (match["folder"] or "").strip()
            path = next((each for each in (folder / f"{part}.tex", folder / part) if each.is_file()), None)
            whole = whole and path is not None
            if path and path.suffix == ".tex" and path.resolve() not in seen:
                seen.add(path.resolve())
                inner.append((str(path), text_of(Path(), str(path))))
        waiting += reversed(inner)
    return together(read, whole=whole and read[0].whole)


def _through(tool: str, arguments: list[str], shown: str) -> str:
    """Return what a program makes of a file, as text."""
    if shutil.which(tool) is None:
        raise DataError(f"{shown}: {tool} reads it and is not installed; install it, or give Markdown, LaTeX or HTML")
    done = subprocess.run([tool, *arguments], capture_output=True, check=False, timeout=120)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise DataError(f"{shown}: {tool} cannot read it: {words[0][:200]}")
    return done.stdout.decode("utf-8", "replace")
