"""Parse the errors and the relevant warnings in a log of LaTeX.

The log must be written with `-file-line-error`, which the parsers on PyPI do not understand, and `max_print_line=1000`.
"""

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from boundpaper.errors import LatexError
from boundpaper.paper.tex.hints import hint
from boundpaper.store import files

NO_PREAMBLE = "Missing \\begin{document}"
SHOWN = 20  # most errors shown after the first
OVERFULL_LIMIT = 5.0  # points; a smaller excess is not visible

_ERROR = re.compile(r"^(?P<file>(?:\./)?[^:()\s][^:()]*\.\w+):(?P<line>\d+): +(?P<message>.*)$")
_BARE_ERROR = re.compile(r"^!\s*(?P<message>\S.*)$")
_CONTEXT = re.compile(r"^l\.(?P<line>\d+) ?(?P<text>.*)$")
_END_OF_MESSAGE = re.compile(r"^(See the .* for explanation|Type +H <return>|l\.\d+|<.*>|\\|\s*$|\?)")
_FATAL = re.compile(r"==> Fatal error|Emergency stop")
_REFERENCE = re.compile(r"Reference `(?P<name>[^']*)' on page \S+ undefined(?: on input line (?P<line>\d+))?")
_CITATION = re.compile(r"Citation [`'](?P<name>[^']*)' (?:on page \S+ )?undefined(?: on input line (?P<line>\d+))?")
_MULTIPLE = re.compile(r"Label `(?P<name>[^`']*)' multiply defined")
_MISSING_CHARACTER = re.compile(r"^Missing character: (?P<message>There is no .*? in font [^!]*)!")
# A file that a package did not find; a missing .aux or .bbl of LaTeX itself is made in a later pass.
_MISSING_FILE = re.compile(r"^(?:Package|LaTeX) \w+ Warning: File [\"`'](?P<name>[^\"']+)[\"'] not found")
_OVERFULL = re.compile(
    r"^Overfull \\(?P<box>[hv]box) \((?P<size>[\d.]+)pt too (?:wide|high)\)"
    r"(?:.*? at lines? (?P<line>\d+)(?:--(?P<last>\d+))?)?"
)
_TALL_FLOAT = re.compile(r"Float too large for page by (?P<size>[\d.]+)pt(?: on input line (?P<line>\d+))?")
_UNDERFULL = re.compile(r"^Underfull \\[hv]box ")
_RERUN = re.compile(
    r"Rerun to get|Rerun LaTeX|may have changed\. *Rerun|\(re\)run LaTeX|Please rerun|rerunfilecheck.*has changed"
)
_SHIPPED_PAGE = re.compile(r"\[\d+(?=[\]\s{<]|$)")  # TeX logs a page when it is complete
_PARENTHESIS = re.compile(r"\((?P<file>(?:\./|/)?[^\s()<>]+\.[A-Za-z]\w*)(?=[\s()]|$)|[()]")
# A comment that names the source of a generated file: `% source: X`, or `% Generated from X through Y; ...`.
_SOURCE_COMMENT = re.compile(r"^%+ (?:source: |[^;]*\b(?:generated|made) from )(?P<source>[^;]*[^;\s])", re.IGNORECASE)


@dataclass(frozen=True)
class LogMessage:
    """An error or a warning in a log.

    Attributes
    ----------
    kind : str
        `error`, `undefined reference`, `undefined citation`, `multiply defined label`, `missing character`,
        `missing file`, `overfull box` or `float too high`.
    message : str
        LaTeX's message, or the undefined name.
    file, line : str, int
        The generated file, relative to the output folder, and the line in it; "" and 0 when the log does not say.
    source : str
        The template or exhibit from which `file` was generated.
    context : str
        The text that LaTeX was reading.
    """

    kind: str
    message: str
    file: str = ""
    line: int = 0
    source: str = ""
    context: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        origin = f" (from {self.source})" if self.source else ""
        context = f" near: {self.context}" if self.context else ""
        message = self.message if self.kind == "error" else f"{self.kind}: {self.message}"
        return (f"{place}{origin}: " if place else "") + f"{message}{context}{self.hint}"

    @property
    def hint(self) -> str:
        """Return the end of a message, `; ADVICE`, or an empty text if there is no advice."""
        advice = hint(self.kind, self.message)
        return f"; {advice}" if advice else ""


@dataclass(frozen=True)
class Log:
    """The content of a log.

    `errors` and `warnings` are in the order of the log, without repeats. `needs_rerun` says whether LaTeX asks for
    another pass.
    """

    errors: tuple[LogMessage, ...]
    warnings: tuple[LogMessage, ...]
    needs_rerun: bool


def parse(text: str, folder: Path | None = None) -> Log:
    """Parse the log of one pass.

    `folder` is the output folder; with it, messages name the source from which a file was generated.
    """
    errors: list[LogMessage] = []
    fatal_errors: list[LogMessage] = []
    warnings: list[LogMessage] = []
    stack: list[str] = []
    lines = text.splitlines()
    position = pages = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if match := _ERROR.match(line) or _BARE_ERROR.match(line):
            error, position = _read_error(match, lines, position)
            (fatal_errors if _FATAL.search(error.message) else errors).append(error)
        elif match := _OVERFULL.match(line):
            if float(match["size"]) > OVERFULL_LIMIT:
                warnings.append(_overfull(match, lines[position : position + 1], _current_file(stack), pages + 1))
            position = _skip_to_blank(lines, position)
        elif match := _TALL_FLOAT.search(line):
            if float(match["size"]) > OVERFULL_LIMIT:
                message = f"{match['size']} pt of it are below the end of the page"
                warnings.append(LogMessage("float too high", message, _current_file(stack), int(match["line"] or 0)))
        elif _UNDERFULL.match(line):
            position = _skip_to_blank(lines, position)
        elif match := _MISSING_CHARACTER.match(line):
            warnings.append(LogMessage("missing character", match["message"], _current_file(stack)))
        elif match := _MISSING_FILE.match(line):
            warnings.append(LogMessage("missing file", match["name"], _current_file(stack)))
        else:
            for kind, pattern in (
                ("undefined reference", _REFERENCE),
                ("undefined citation", _CITATION),
                ("multiply defined label", _MULTIPLE),
            ):
                if match := pattern.search(line):
                    number = match.groupdict().get("line")
                    warnings.append(LogMessage(kind, match["name"], _current_file(stack), int(number or 0)))
            _follow_files(line, stack)
            pages += len(_SHIPPED_PAGE.findall(line))
    # the place of a missing file is only in the fatal error after it
    if fatal_errors and errors and not errors[-1].file:
        errors[-1] = replace(errors[-1], file=fatal_errors[0].file, line=fatal_errors[0].line)
    rerun = any(_RERUN.search(line) for line in lines)
    return Log(_with_sources(errors or fatal_errors, folder), _with_sources(warnings, folder), rerun)


def read(out: Path, path: str, copy: str) -> Log:
    """Parse the log at `path` below `out`, and write it to `copy`; a missing log counts as empty."""
    try:
        text = (out / path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return Log((), (), False)
    files.write(out / copy, text.encode())
    return parse(text, out)


def origin(text: str, line: int) -> str:
    """Return the source of a line in a generated file, as named by a comment in the file; empty if there is none.

    A comment is `% source: X`, or a sentence with "made from X" or "generated from X". The nearest comment at or above
    the line names the source, else the first comment below it. `line` counts from 1, and is 0 when unknown.
    """
    source = ""
    for number, text_line in enumerate(text.splitlines(), 1):
        if source and number > line:
            break
        if match := _SOURCE_COMMENT.match(text_line):
            source = match["source"]
    return source


def latex_failure(log: Log, document: str, output: str = "") -> LatexError:
    """Return the error for a failed run of LaTeX.

    `document` is the generated file, and is named if the log names no file. `output` is what LaTeX printed, and is
    quoted if the log has no error.
    """
    if not log.errors:
        tail = "\n".join(output.strip().splitlines()[-5:]) or "no message"
        return LatexError(f"LaTeX failed without an error in its log: {tail}", document)
    # Text in the preamble causes all later errors.
    count = next((number for number, error in enumerate(log.errors, 1) if NO_PREAMBLE in error.message), None)
    error, *further_errors = log.errors[:count]
    message = (f"{error.message} near: {error.context}" if error.context else error.message) + error.hint
    message = "\n".join([message, *(f"out/{error}" if error.file else str(error) for error in further_errors[:SHOWN])])
    if len(further_errors) > SHOWN:
        message += f"\nand {len(further_errors) - SHOWN} more errors"
    return LatexError(message, f"out/{error.file}" if error.file else document, error.line, error.source)


def _with_template_line(root: Path, source: str, text: str, line: int) -> str:
    """Return `source`; for a LaTeX template, append the line number that matches `line` of the generated `text`."""
    path = root / source
    if not source.endswith(".tex.j2") or not path.is_file():
        return source
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for _, first, last, begin, end in difflib.SequenceMatcher(None, lines, text.splitlines(), False).get_opcodes():
        if begin < line <= end:
            return f"{source}:{min(first + line - begin, max(last, first + 1))}"
    return source


def _read_error(match: re.Match[str], lines: list[str], position: int) -> tuple[LogMessage, int]:
    """Return an error and the position after it; its message may continue on lines up to the line `l.N`."""
    message_lines = [match["message"].strip()]
    while position < len(lines) and not _END_OF_MESSAGE.match(lines[position]):
        # Packages begin continuation lines with their name in parentheses.
        message_lines.append(re.sub(r"^\(\w+\)\s*", "", lines[position]).strip())
        position += 1
    context = ""
    number = int(match.groupdict().get("line") or 0)
    for ahead in range(position, min(position + 30, len(lines))):
        if _ERROR.match(lines[ahead]):
            break
        if place := _CONTEXT.match(lines[ahead]):
            context, number, position = place["text"].strip(), number or int(place["line"]), ahead + 1
            break
    file = (match.groupdict().get("file") or "").removeprefix("./")
    return LogMessage("error", " ".join(filter(None, message_lines)), file, number, context=context), position


def _overfull(match: re.Match[str], next_lines: list[str], file: str, page: int) -> LogMessage:
    first, last = match["line"], match["last"]
    excess = f"{match['size']} pt too {'wide' if match['box'] == 'hbox' else 'high'}"
    lines = f", lines {first}-{last}" if last and last != first else ""
    # The text of the box, without TeX's font switches.
    text = re.sub(r"\\\w+(?:/[\w.]+)*|\[\]|[|$^_]", " ", next_lines[0]) if next_lines else ""
    message = f"\\{match['box']} {excess}{lines}, sheet {page} of the PDF"
    return LogMessage("overfull box", message, file, int(first or 0), context=" ".join(text.split())[:80])


def _skip_to_blank(lines: list[str], position: int) -> int:
    """Return the position of the empty line after a printed box, whose text may have unmatched parentheses."""
    start = position
    while position < len(lines) and lines[position].strip() and position - start < 20:
        position += 1
    return position


def _follow_files(line: str, stack: list[str]) -> None:
    """Update the stack of open files: TeX writes `(file` when it opens a file, and `)` when it closes one."""
    for match in _PARENTHESIS.finditer(line):
        if match[0] != ")":
            stack.append((match["file"] or "").removeprefix("./"))
        elif stack:
            stack.pop()


def _current_file(stack: list[str]) -> str:
    return next((file for file in reversed(stack) if file), "")


def _with_sources(messages: list[LogMessage], folder: Path | None) -> tuple[LogMessage, ...]:
    """Return the distinct messages, each with the source of its file."""
    messages_with_source = []
    for message in dict.fromkeys(messages):
        source = ""
        if folder and message.file and not Path(message.file).is_absolute() and (folder / message.file).is_file():
            text = (folder / message.file).read_text(encoding="utf-8", errors="replace")
            source = origin(text, message.line)
            if message.line:
                source = _with_template_line(folder.parent, source, text, message.line)
        messages_with_source.append(replace(message, source=source))
    return tuple(messages_with_source)
