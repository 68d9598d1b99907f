"""Precompile a preamble to a TeX format, so that figures and the thesis need not load its packages again.

A preamble takes more than half of a figure's time and a fifth of a pass over the thesis. The name of a format is a hash
of the TeX installation and of the preamble, so that equal preambles share a format. TeX writes formats compressed, but
here they are stored uncompressed, which TeX also reads; this saves a quarter of a figure's time.
"""

import gzip
import hashlib
import shutil
import threading
from collections import defaultdict
from functools import cache
from pathlib import Path

from boundpaper.build import process
from boundpaper.errors import LatexError, SpecError
from boundpaper.paper.tex import latex, log
from boundpaper.store import files

FOLDER = "state/formats"  # below the output folder
MOST_FORMATS = 6  # most formats in the folder: a build uses two, and every edit of a preamble leaves an old format
END_OF_PREAMBLE = r"\csname endofdump\endcsname"

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_locks_lock = threading.Lock()


def preamble(text: str, document: str) -> tuple[str, list[int]]:
    """Return the preamble of a document without comment lines, and the number of each remaining line.

    Comment lines are removed, since they name the document and would make all preambles differ. Raises SpecError when
    the line that ends the preamble is missing.
    """
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == END_OF_PREAMBLE:
            return "\n".join(lines) + "\n", numbers
        if line.strip() and not line.lstrip().startswith("%"):
            lines.append(line)
            numbers.append(number)
    raise SpecError(f"out/{document}: no line with only {END_OF_PREAMBLE}; it must end the preamble")


def ensure(out: Path, text: str, document: str, log_copy: str, timeout: float) -> str:
    """Return the name of the format for a document's preamble; create the format if it does not exist.

    `document` is the path of `text` below `out`, and `log_copy` the path below `out` for a copy of the log. Raises
    LatexError when LaTeX could not compile the preamble, or took too long.
    """
    preamble_text, numbers = preamble(text, document)
    name = hashlib.blake2b(f"{_installation_key()}\n{preamble_text}".encode(), digest_size=10).hexdigest()
    formats = out / FOLDER
    with _locks_lock:
        lock = _locks[str(formats / name)]
    with lock:
        if (formats / f"{name}.fmt").is_file():
            (formats / f"{name}.fmt").touch()  # the least recently used formats are removed
            return name
        scratch = f"{FOLDER}/{name}"
        files.write(out / scratch / "preamble.tex", f"{preamble_text}\\begin{{document}}\n\\end{{document}}\n".encode())
        run = latex.dump_format(f"{scratch}/preamble.tex", cwd=out, output=scratch, fmt=name, timeout=timeout)
        report = log.read(out, f"{scratch}/{name}.log", log_copy)
        if run.timed_out:
            raise LatexError(f"the preamble took longer than {timeout:.0f} s and was stopped", f"out/{document}")
        if run.returncode or report.errors or not (out / scratch / f"{name}.fmt").is_file():
            error = log.latex_failure(report, f"out/{document}", run.output)
            line = numbers[error.line - 1] if 0 < error.line <= len(numbers) else 0
            raise LatexError(f"in the preamble: {error.message}", f"out/{document}", line, log.origin(text, line))
        files.write(formats / f"{name}.fmt", _unpacked_content(out / scratch / f"{name}.fmt"))
        with _locks_lock:
            for old_format in sorted(formats.glob("*.fmt"), key=lambda path: path.stat().st_mtime_ns)[:-MOST_FORMATS]:
                old_format.unlink()
        shutil.rmtree(out / scratch)
    return name


def _unpacked_content(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is gzip."""
    content = path.read_bytes()
    try:
        return gzip.decompress(content)
    except gzip.BadGzipFile:
        return content


@cache
def _installation_key() -> str:
    """Return a key of the TeX installation, since a format only works with the installation that wrote it."""
    folder, environment = Path(__file__).parent, latex.environment()
    version = process.run(("pdflatex", "--version"), folder, latex.FIGURE_TIMEOUT, environment).output
    command = ("kpsewhich", "-engine=pdftex", "pdflatex.fmt")
    base_format = Path(process.run(command, folder, latex.FIGURE_TIMEOUT, environment).output.strip())
    stamp = f"{base_format.stat().st_mtime_ns} {base_format.stat().st_size}" if base_format.is_file() else ""
    return f"{version.splitlines()[0] if version else ''} {stamp}"
