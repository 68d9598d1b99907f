"""Read files as documents; the ending selects the reader, and an unknown ending is an error."""

import shutil
import subprocess
from pathlib import Path

from boundpaper.adopt.source import READ, LatexFile
from boundpaper.audit import html, latex, markdown
from boundpaper.audit.documents import ReadDocument, joined
from boundpaper.errors import DataError
from boundpaper.store.text_file import text_of

READERS = dict.fromkeys((".md", ".markdown", ".mdx"), markdown.read) | {".html": html.read}
READERS |= dict.fromkeys((".tex", ".ltx"), latex.read)


def read(path: Path, shown: str) -> ReadDocument:
    """Read a file; raise DataError if it is absent, not text or of unknown ending, or its reader is not installed."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise DataError(f"{shown}: no such file; name a document in Markdown, LaTeX, HTML, DOCX or PDF")
    if suffix == ".docx":
        return markdown.read(_converted_by("pandoc", ["-f", "docx", "-t", "gfm", str(path)], shown), shown)
    if suffix == ".pdf":
        document = ReadDocument(shown)
        for block in _converted_by("pdftotext", ["-enc", "UTF-8", str(path), "-"], shown).split("\n\n"):
            document.say(0, " ".join(block.split()))
        return document
    if suffix not in READERS:
        what = suffix or "a file without an ending"
        raise DataError(f"{shown}: {what} is not supported; give .md, .tex, .html, .docx, .pdf")
    text = text_of(Path(), shown)
    return _with_parts(path, shown, text) if suffix in (".tex", ".ltx") else READERS[suffix](text, shown)


def _with_parts(main: Path, shown: str, text: str) -> ReadDocument:
    """Read a LaTeX file and the files that it inputs; the document is `whole` if all these files exist."""
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
    return joined(read, whole=whole and read[0].whole)


def _converted_by(tool: str, arguments: list[str], shown: str) -> str:
    """Return the text to which a program converts a file."""
    if shutil.which(tool) is None:
        raise DataError(f"{shown}: this format needs {tool}; install {tool}, or give Markdown, LaTeX or HTML")
    done = subprocess.run([tool, *arguments], capture_output=True, check=False, timeout=120)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise DataError(f"{shown}: {tool} cannot read it: {words[0][:200]}")
    return done.stdout.decode("utf-8", "replace")
