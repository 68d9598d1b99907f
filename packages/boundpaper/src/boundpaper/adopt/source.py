"""Find and read the LaTeX files of a paper, their code without comments, and the places where they use values."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from boundpaper.adopt.folder import GENERATED, Folder
from boundpaper.errors import SpecError
from boundpaper.paper.visible import without_hidden

LINE = rf"\input{{{GENERATED}/{GENERATED}}}"
"""The line of the main file that inputs the generated LaTeX."""
INPUT_COMMAND = re.compile(
    r"\\(?P<command>input|include|subfile|subfileinclude|InputIfFileExists|(?:sub)?import\*?\s*\{(?P<folder>[^{}]*)\})"
    r"\s*(?:\{(?P<name>[^{}]*)\}|(?P<bare>[^\s{}\\]+))"
)
END = re.compile(r"\\end\{document\}")


@dataclass(frozen=True)
class LatexFile:
    """A LaTeX file: its path, name in messages, text with the original line ends, encoding, and first line number."""

    path: Path
    shown: str
    text: str
    encoding: str
    first_line: int = 1

    @cached_property
    def code(self) -> str:
        """Return the text with blanks for comments and verbatim text; offsets are those of the text."""
        return without_hidden(self.text)

    def line(self, offset: int) -> int:
        """Return the line number of an offset."""
        return bisect_left(self._line_ends, offset) + self.first_line

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def place(self, offset: int) -> str:
        """Return the file and the line of an offset, for messages."""
        return f"{self.shown}:{self.line(offset)}"

    def encoded(self, text: str) -> bytes:
        """Return a text encoded in this file's encoding."""
        return text.encode(self.encoding)


@dataclass(frozen=True)
class Use:
    r"""A place where the text uses a value: `\val{address:format}`, `\boundrows{name}` and similar commands."""

    source: LatexFile
    start: int
    end: int
    command: str
    key: str

    @property
    def place(self) -> str:
        """Return the file and the line."""
        return self.source.place(self.start)


def read(path: Path, name: str) -> LatexFile:
    """Return a file decoded as UTF-8, or as Latin-1 if it is not UTF-8; `encoded` restores the same bytes.

    `name` is its name in messages. Raises SpecError when the file cannot be read.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SpecError(f"{name}: cannot be read ({error.strerror})") from None
    try:
        return LatexFile(path, name, raw.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return LatexFile(path, name, raw.decode("latin-1"), "latin-1")


def sources(folder: Folder) -> list[LatexFile]:
    """Return the main files and the files that they input, without generated files, in the order of first reading."""
    files: dict[Path, LatexFile] = {}
    pending = [folder.root / main for main in reversed(folder.mains)]
    while pending:
        path = pending.pop()
        if path in files:
            continue
        files[path] = source = read(path, folder.shown(path))
        pending += reversed(list(_input_files(source, folder)))
    return list(files.values())


def _input_files(source: LatexFile, folder: Folder) -> Iterator[Path]:
    for match in INPUT_COMMAND.finditer(source.code):
        name = (match["name"] if match["name"] is not None else match["bare"]).strip().strip('"')
        subfolder = (match["folder"] or "").strip()
        if not name or "#" in name or "\\" in name:
            continue
        for base in (folder.paper / subfolder, source.path.parent / subfolder):
            path = next(filter(Path.is_file, (base / f"{name}.tex", base / name)), None)
            if path is not None:
                path = Path(*path.parts) if ".." not in path.parts else path.resolve()
                if not path.is_relative_to(folder.generated) and path.suffix not in (".sty", ".cls", ".pdf", ".pgf"):
                    yield path
                break


def uses_in(source: LatexFile, macro: str) -> list[Use]:
    """Return every use of a value in a file; raise SpecError for a command without braces."""
    kinds = ("val", "rows", "claim", "table", "tabular", "figure")
    commands = {macro: "val", **{f"bound{kind}": kind for kind in kinds}}
    pattern = re.compile(rf"\\({'|'.join(commands)})(?![A-Za-z@])(?:\s*\{{([^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)*)\}})?")
    uses = []
    for match in pattern.finditer(source.code):
        before = source.code[: match.start()].rstrip()[-30:]
        if re.search(r"\\(?:re|provide)?(?:new)?command\*?\s*\{?$|\\(?:g|e|x)?def$|\\let$", before):
            continue  # the author defines a command of this name
        if match[2] is None:
            raise SpecError(f"{source.place(match.start())}: \\{match[1]} without {{...}} after it; add the braces")
        key = re.sub(r"\s+", " ", match[2]).strip()
        uses.append(Use(source, match.start(), match.end(), commands[match[1]], key))
    return uses


def body_span(source: LatexFile) -> tuple[int, int]:
    r"""Return the start and the end of the document's body, which starts at 0 if there is no `\begin{document}`."""
    begin = source.code.find(r"\begin{document}")
    end = END.search(source.code)
    return max(begin, 0), end.start() if end else len(source.text)
