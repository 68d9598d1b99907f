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


def read(path: Path, name: str) -> ReadDocument:
    """Read a file; raise DataError if it is absent, not text or of unknown ending, or its reader is not installed."""
    suffix = path.suffix.lower()
    if not path.is_file():
        raise DataError(f"{name}: no such file; name a document in Markdown, LaTeX, HTML, DOCX or PDF")
    if suffix == ".docx":
        return markdown.read(_converted_by("pandoc", ["-f", "docx", "-t", "gfm", str(path)], name), name)
    if suffix == ".pdf":
        document = ReadDocument(name)
        for block in _converted_by("pdftotext", ["-enc", "UTF-8", str(path), "-"], name).split("\n\n"):
            document.say(0, " ".join(block.split()))
        return document
    if suffix not in READERS:
        ending = suffix or "a file without an ending"
        raise DataError(f"{name}: {ending} is not supported; give .md, .tex, .html, .docx, .pdf")
    text = text_of(Path(), name)
    return _with_parts(path, name, text) if suffix in (".tex", ".ltx") else READERS[suffix](text, name)


def _with_parts(main: Path, file: str, text: str) -> ReadDocument:
    """Read a LaTeX file and the files that it inputs; the document is `complete` if all these files exist."""
    parts: list[ReadDocument] = []
    waiting, seen, complete = [(file, text)], {main.resolve()}, not latex.OUTSIDE.search(text)
    while waiting:
        name, content = waiting.pop()
        parts.append(latex.read(content, name))
        inner: list[tuple[str, str]] = []
        for match in READ.finditer(LatexFile(Path(name), name, content, "utf-8").code):
            target = (match["name"] or match["bare"] or "").strip().strip('"')
            folder = Path(file).parent / (match["folder"] or "").strip()
            path = next((option for option in (folder / f"{target}.tex", folder / target) if option.is_file()), None)
            complete = complete and path is not None
            if path and path.suffix == ".tex" and path.resolve() not in seen:
                seen.add(path.resolve())
                inner.append((str(path), text_of(Path(), str(path))))
        waiting += reversed(inner)
    return joined(parts, complete=complete and parts[0].whole)


def _converted_by(tool: str, arguments: list[str], name: str) -> str:
    """Return the text to which a program converts a file."""
    if shutil.which(tool) is None:
        raise DataError(f"{name}: this format needs {tool}; install {tool}, or give Markdown, LaTeX or HTML")
    result = subprocess.run([tool, *arguments], capture_output=True, check=False, timeout=120)
    if result.returncode:
        words = result.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise DataError(f"{name}: {tool} cannot read it: {words[0][:200]}")
    return result.stdout.decode("utf-8", "replace")
