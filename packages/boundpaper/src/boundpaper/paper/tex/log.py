"""Parse LaTeX's log, written with `-file-line-error` and `max_print_line=1000`: errors and relevant warnings.

The parsers on PyPI only understand the `! message` style.
"""

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from boundpaper.errors import LatexError
from boundpaper.paper.tex.hints import hint
from boundpaper.store import files

NO_PREAMBLE = "Missing \\begin{document}"
SHOWN = 20  # most errors listed after the first
OVERFULL_LIMIT = 5.0  # points; a smaller excess is not visible

_ERROR = re.compile(r"^(?P<file>(?:\./)?[^:()\s][^:()]*\.\w+):(?P<line>\d+): +(?P<message>.*)$")
_BARE_ERROR = re.compile(r"^!\s*(?P<message>\S.*)$")
_CONTEXT = re.compile(r"^l\.(?P<line>\d+) ?(?P<text>.*)$")
_STOP = re.compile(r"^(See the .* for explanation|Type +H <return>|l\.\d+|<.*>|\\|\s*$|\?)")
_FATAL = re.compile(r"==> Fatal error|Emergency stop")
_REFERENCE = re.compile(r"Reference `(?P<name>[^']*)' on page \S+ undefined(?: on input line (?P<line>\d+))?")
_CITATION = re.compile(r"Citation [`'](?P<name>[^']*)' (?:on page \S+ )?undefined(?: on input line (?P<line>\d+))?")
_MULTIPLE = re.compile(r"Label `(?P<name>[^`']*)' multiply defined")
_MISSING = re.compile(r"^Missing character: (?P<message>There is no .*? in font [^!]*)!")
# An optional file of a package; LaTeX's own missing files (an .aux, a .bbl) are made in later passes.
_ABSENT = re.compile(r"^(?:Package|LaTeX) \w+ Warning: File [\"`'](?P<name>[^\"']+)[\"'] not found")
_OVERFULL = re.compile(
    r"^Overfull \\(?P<box>[hv]box) \((?P<size>[\d.]+)pt too (?:wide|high)\)"
    r"(?:.*? at lines? (?P<line>\d+)(?:--(?P<last>\d+))?)?"
)
_TALL = re.compile(r"Float too large for page by (?P<size>[\d.]+)pt(?: on input line (?P<line>\d+))?")
_UNDERFULL = re.compile(r"^Underfull \\[hv]box ")
_RERUN = re.compile(
    r"Rerun to get|Rerun LaTeX|may have changed\. *Rerun|\(re\)run LaTeX|Please rerun|rerunfilecheck.*has changed"
)
_SHIPPED = re.compile(r"\[\d+(?=[\]\s{<]|$)")  # TeX logs a page when it is complete
_PARENTHESIS = re.compile(r"\((?P<file>(?:\./|/)?[^\s()<>]+\.[A-Za-z]\w*)(?=[\s()]|$)|[()]")
# Comments that name the source of a generated file: `% source: X`, or `% Generated from X through Y; ...`.
_MARK = re.compile(r"^%+ (?:source: |[^;]*\b(?:generated|made) from )(?P<source>[^;]*[^;\s])", re.IGNORECASE)


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
        The generated file, relative to the output folder, and its line; "" and 0 when LaTeX does not say.
    source : str
        The template or exhibit that `file` came from.
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
        shown = f" near: {self.context}" if self.context else ""
        text = self.message if self.kind == "error" else f"{self.kind}: {self.message}"
        described = f"{text}{shown}{self.hint}"
        return f"{place}{origin}: {described}" if place else described

    @property
    def hint(self) -> str:
        """Return how to correct the error, after a semicolon; empty if unknown."""
        advice = hint(self.kind, self.message)
        return f"; {advice}" if advice else ""


@dataclass(frozen=True)
class Log:
    """The content of a log.

    `errors` and `warnings` are distinct and in the order of the log; `rerun` says whether LaTeX requests another pass.
    """

    errors: tuple[LogMessage, ...]
    warnings: tuple[LogMessage, ...]
    rerun: bool


def parse(text: str, folder: Path | None = None) -> Log:
    """Parse the log of one pass.

    With `folder`, the output folder of the generated files, messages name the source of a generated file.
    """
    errors: list[LogMessage] = []
    fatal: list[LogMessage] = []
    warnings: list[LogMessage] = []
    stack: list[str] = []
    lines = text.splitlines()
    position = pages = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if match := _ERROR.match(line) or _BARE_ERROR.match(line):
            finding, position = _read_error(match, lines, position)
            (fatal if _FATAL.search(finding.message) else errors).append(finding)
        elif match := _OVERFULL.match(line):
            if float(match["size"]) > OVERFULL_LIMIT:
                warnings.append(_overfull(match, lines[position : position + 1], _current_file(stack), pages + 1))
            position = _skip_to_blank(lines, position)
        elif match := _TALL.search(line):
            if float(match["size"]) > OVERFULL_LIMIT:
                message = f"{match['size']} pt of it are below the end of the page"
                warnings.append(LogMessage("float too high", message, _current_file(stack), int(match["line"] or 0)))
        elif _UNDERFULL.match(line):
            position = _skip_to_blank(lines, position)
        elif match := _MISSING.match(line):
            warnings.append(LogMessage("missing character", match["message"], _current_file(stack)))
        elif match := _ABSENT.match(line):
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
            pages += len(_SHIPPED.findall(line))
    if (
        fatal and errors and not errors[-1].file
    ):  # a missing file is reported without a place, which the following stop has
        errors[-1] = replace(errors[-1], file=fatal[0].file, line=fatal[0].line)
    failures = errors or fatal
    return Log(_traced(failures, folder), _traced(warnings, folder), any(_RERUN.search(line) for line in lines))


def read(out: Path, path: str, kept: str) -> Log:
    """Parse the log at `path` below `out`, and copy it to `kept`; a missing log counts as empty."""
    try:
        text = (out / path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return Log((), (), False)
    files.write(out / kept, text.encode())
    return parse(text, out)


def origin(text: str, line: int) -> str:
    """Return the source of a line of a generated file: the nearest mark at or above the line, else the first mark.

    Marks are comment lines: `% source: X`, or a sentence with "made from X" or "generated from X". `line` counts from
    1, and is 0 when unknown.
    """
    marks = [
        (number, match["source"]) for number, row in enumerate(text.splitlines(), 1) if (match := _MARK.match(row))
    ]
    above = [source for number, source in marks if number <= line]
    return above[-1] if above else marks[0][1] if marks else ""


def latex_failure(log: Log, document: str, output: str = "") -> LatexError:
    """Return the error for a failed run of LaTeX.

    `document` is the generated file, used if the log names no file; `output` is what LaTeX printed, used if the
    log has no error.
    """
    if not log.errors:
        tail = "\n".join(output.strip().splitlines()[-5:]) or "no message"
        return LatexError(f"LaTeX failed without an error in its log: {tail}", document)
    first, others = log.errors[0], _first_errors(log.errors)[1:]
    message = (f"{first.message} near: {first.context}" if first.context else first.message) + first.hint
    message = "\n".join([message, *(f"out/{each}" if each.file else str(each) for each in others[:SHOWN])])
    if len(others) > SHOWN:
        message += f"\nand {len(others) - SHOWN} more errors"
    return LatexError(message, f"out/{first.file}" if first.file else document, first.line, first.source)


def _first_errors(errors: tuple[LogMessage, ...]) -> tuple[LogMessage, ...]:
    """Return the errors up to one that causes all later errors, such as text in the preamble."""
    last = next((number for number, each in enumerate(errors, 1) if NO_PREAMBLE in each.message), len(errors))
    return errors[:last]


def _in_template(root: Path, source: str, text: str, line: int) -> str:
    """Return the source and, if it is a LaTeX template, the line of the template."""
    path = root / source
    if not source.endswith(".tex.j2") or not path.is_file():
        return source
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for _, first, last, begin, end in difflib.SequenceMatcher(None, lines, text.splitlines(), False).get_opcodes():
        if begin < line <= end:
            return f"{source}:{min(first + line - begin, max(last, first + 1))}"
    return source


def _read_error(match: re.Match[str], lines: list[str], position: int) -> tuple[LogMessage, int]:
    """Return an error, whose message may span lines before a line `l.N`, and the position after it."""
    parts = [match["message"].strip()]
    while position < len(lines) and not _STOP.match(lines[position]):
        # Packages begin continuation lines with their name in parentheses.
        parts.append(re.sub(r"^\(\w+\)\s*", "", lines[position]).strip())
        position += 1
    context = ""
    number = int(match.groupdict().get("line") or 0)
    for ahead in range(position, min(position + 30, len(lines))):
        if _ERROR.match(lines[ahead]):
            break
        if place := _CONTEXT.match(lines[ahead]):
            context, number, position = place["text"].strip(), number or int(place["line"]), ahead + 1
            break
    file = match.groupdict().get("file") or ""
    return LogMessage(
        "error", " ".join(filter(None, parts)), file.removeprefix("./"), number, context=context
    ), position


def _overfull(match: re.Match[str], after: list[str], file: str, page: int) -> LogMessage:
    last = f"-{match['last']}" if match["last"] and match["last"] != match["line"] else ""
    where = (f", lines {match['line']}{last}" if last else "") + f", sheet {page} of the PDF"
    # The text of the box, without TeX's font switches.
    shown = re.sub(r"\\\w+(?:/[\w.]+)*|\[\]|[|$^_]", " ", after[0]) if after else ""
    return LogMessage(
        "overfull box",
        f"\\{match['box']} {match['size']} pt too {'wide' if match['box'] == 'hbox' else 'high'}{where}",
        file,
        int(match["line"] or 0),
        context=" ".join(shown.split())[:80],
    )


def _skip_to_blank(lines: list[str], position: int) -> int:
    """Return the position of the empty line after a printed box, whose text may have unmatched parentheses."""
    start = position
    while position < len(lines) and lines[position].strip() and position - start < 20:
        position += 1
    return position


def _follow_files(line: str, stack: list[str]) -> None:
    """Update the stack of open files: TeX writes `(file` on opening a file and `)` on closing it."""
    for match in _PARENTHESIS.finditer(line):
        if match[0] != ")":
            stack.append((match["file"] or "").removeprefix("./"))
        elif stack:
            stack.pop()


def _current_file(stack: list[str]) -> str:
    return next((file for file in reversed(stack) if file), "")


def _traced(findings: list[LogMessage], folder: Path | None) -> tuple[LogMessage, ...]:
    """Return the distinct messages, each with the source of its file."""
    traced = []
    for finding in dict.fromkeys(findings):
        source = ""
        path = folder / finding.file if folder and finding.file else None
        if path and not Path(finding.file).is_absolute() and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            source = origin(text, finding.line)
            if folder and finding.line:
                source = _in_template(folder.parent, source, text, finding.line)
        traced.append(replace(finding, source=source))
    return tuple(traced)
