"""Find the numbers that authors type into LaTeX, except those in layout, names, years and references."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from boundpaper.adopt import source
from boundpaper.adopt.formats import SEPARATORS
from boundpaper.adopt.source import LatexFile
from boundpaper.paper.visible import CITE, SILENT, blank_out, closing_places, without_commands

# Numbers of arguments of commands whose arguments contain no values; `SILENT` has those that chapters use.
_SILENT = SILENT | {
    "multicolumn": 2, "multirow": 2, "cmidrule": 1, "cline": 1, "resizebox": 2, "scalebox": 1, "raisebox": 1,
    "rotatebox": 1, "makebox": 0, "definecolor": 3, "colorbox": 1, "cellcolor": 1, "rowcolor": 1, "columncolor": 1,
    "vskip": 0, "setstretch": 1, "linespread": 1, "fontsize": 2, "geometry": 1, "hypersetup": 1, "captionsetup": 1,
    "sisetup": 1, "lstset": 1, "tikzset": 1, "pgfplotsset": 1, "usetikzlibrary": 1, "tikz": 1, "setenumerate": 1,
    "bibliographystyle": 1, "author": 1, "address": 1, "affil": 1, "affiliation": 1, "institute": 1, "email": 1,
    "thanks": 1, "date": 1, "orcid": 1, "doi": 1, "acmDOI": 1, "acmISBN": 1, "acmYear": 1, "acmConference": 3,
    "acmBooktitle": 1, "acmPrice": 1, "acmVolume": 1, "acmNumber": 1, "acmArticle": 1, "acmMonth": 1, "ccsdesc": 1,
    "copyrightyear": 1, "icmltitlerunning": 1, "icmlauthor": 2, "icmlaffiliation": 2, "keywords": 0, "bibitem": 1,
    "arraystretch": 0, "hskip": 0, "kern": 0, "penalty": 0, "vphantom": 1, "hphantom": 1, "adjustbox": 1, "Cref": 1,
    "subref": 1, "vref": 1, "tag": 1, "foreach": 0, "numberwithin": 2, "algsetup": 1, "setcitestyle": 1, "tocdepth": 0,
    "import": 2, "subimport": 2, "subfile": 1, "RequirePackage": 1, "documentclass": 1, "PassOptionsToPackage": 2,
    "DeclareMathOperator": 2, "newtheorem": 2, "newcounter": 1, "newlength": 1, "titlespacing": 4, "titleformat": 5,
    "looseness": 0, "hyphenpenalty": 0, "tolerance": 0, "selectfont": 0, "includepdf": 1, "gitCommit": 1,
} | dict.fromkeys(("part", "chapter", "section", "subsection", "subsubsection", "paragraph"), 0)  # fmt: skip
_SILENT_ENVIRONMENT = re.compile(
    r"\\begin\{(tikzpicture|axis|picture|pgfpicture|thebibliography|CCSXML|pgfonlayer|forest|circuitikz)\}"
)
_LENGTH = re.compile(
    r"[-+]?(?<![\d.])(?:\d++(?:\.\d*+)?|\.\d++)(?:\s*+\\(?:[a-z]*width|[a-z]*height|baselineskip|[a-z]*skip|[a-z]*sep|unitlength|p@)\b"
    r"|(?:pt|em|ex|cm|mm|in|bp|pc|sp|mu|true\w+|fil+)\b)"
)
_POWER = re.compile(
    r"(?:[-+]?(?<![\d.])\d[\d.]*+\s*+(?:\\times|\\cdot)\s*+)?(?<![\d.])10\s*+\^\s*+(?:\{[^{}]*\}|\d)"
    r"|(?<![\d.])\d[\d.]*+\s*+\^\s*+(?:\{\s*+[-+]?\w[^{}]*\}|\d)"
)
_SCRIPT = re.compile(r"[\^_]\s*(?:\{(?:(?!\\pm)[^{}])*\}|-?\d+|\\[A-Za-z]+)")
_SETTING = re.compile(
    r"\\(?:vskip|hskip|kern|penalty|looseness|tolerance|hyphenpenalty|clubpenalty|widowpenalty|arraystretch|tabcolsep"
    r"|parskip|parindent|hsize|\w*fraction|baselinestretch)\s*+(?:\}\s*+)?(?:=\s*+)?(?:\{\s*+)?-?(?:\d++(?:\.\d++)?|\.\d++)"
)
_DOI = re.compile(r"10\.\d{4,}/\S+|\b\w+://\S+|\barXiv:\s*\d+\.\d+\S*", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d\b|\b\d+(?:\.\d+){2,}\b")
_NUMBER = re.compile(
    r"(?<![\w.\\@#'])(?<![A-Za-z]-)(?<![A-Za-z]\.)(?<!\d\{,\})"
    r"(?P<number>(?:(?P<integer>\d{1,3}(?:(?P<parted>,|\{,\}|\\,)\d{3}(?:(?P=parted)\d{3})*)(?!\d)|\d+)(?:\.(?P<fraction>\d+))?)"
    r"|\.(?P<bare>\d+))(?![A-Za-z\d@]|\.\d|\{,\}\d|-[A-Za-z]|\s*\^\s*(?:\{\s*[-+]?\w|\w))"
)
_REFERENCE = re.compile(
    r"(?:\b(?:tables?|tabs?|fig(?:ure)?s?|sec(?:tion)?s?|eq(?:uation)?s?|chapters?|append(?:ix|ices)|theorems?|lemmas?|"
    r"algorithms?|steps?|lines?|pages?|pp?|versions?|v|no|nos|python|cuda|pytorch|numpy|footnotes?|question|rfc|iso|"
    r"part|phase|stage|grant|award|contract|issue|volume|vol)\b\.?|§|\\S\b|\\#)[~\s]*(?:\\ )?\(?$",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\}?\$?\s*+(?:(?:~|\\,|\\;|\\ )\s*+)?\{?(?:\\%|\\percent\b|percent\b|per cent\b)")
_SIGN = re.compile(
    r"(?:^|[\s({\[,;:=<>&~|/$]|\\(?:sim|approx|leq?|geq?|pm|,|;|!|quad|in|to|rightarrow))(?P<sign>[-+])$"
)
_MINUS = re.compile(r"(?:\$-\$|(?:^|[\s({\[&~])--|\N{MINUS SIGN}|\{-\}|\\textminus(?:\{\}|\s)?|\\minus(?:\{\}|\s)?)$")
_OKAY_COMMENT = re.compile(r"%\s*bound:\s*ok\b")
_TEXT_COMMAND = re.compile(r"\\(?:title|(?:re)?newcommand\*?|providecommand\*?|def)\s*")
YEARS = range(1900, 2100)


@dataclass(frozen=True)
class TypedNumber:
    """A number that the author typed into a LaTeX file."""

    source: LatexFile
    start: int  # the offset of the number or of a sign adjacent to it
    end: int
    value: Decimal  # with its sign, even if that is separate, as in `$-$0.3`
    decimals: int
    significant: int  # significant digits, without zeros at the end of a whole number
    format: str  # prints the number as typed
    percent: bool  # whether a percent sign follows

    @property
    def text(self) -> str:
        """Return the number as it is typed."""
        return self.source.text[self.start : self.end]

    @property
    def place(self) -> str:
        """Return the file and the line."""
        return self.source.place(self.start)


def typed_numbers(file: LatexFile, macro: str, names: Iterable[str] = ()) -> list[TypedNumber]:
    """Return the numbers with a decimal point or three or more digits that a file prints.

    `macro` is the command of bound values, whose keys are skipped; `names` are regular expressions of names that
    contain digits.
    """
    text = visible_text(file, macro, names)
    numbers = (_typed_number(file, text, match) for match in _NUMBER.finditer(text))
    return [number for number in numbers if number is not None]


def _typed_number(file: LatexFile, text: str, match: re.Match[str]) -> TypedNumber | None:
    """Return the number of a match; None for a short number, a year, a reference, and a line with `% bound: ok`."""
    integer, fraction = match["integer"] or "", match["fraction"] or match["bare"] or ""
    digits = re.sub(r"\D", "", integer)
    if not fraction and (len(digits) < 3 or digits[0] == "0"):
        return None
    if not fraction and not match["parted"] and len(digits) == 4 and int(digits) in YEARS:
        return None
    start, end = match.span("number")
    before = text[max(0, start - 40) : start]
    if _REFERENCE.search(before):
        return None
    rest_of_line = file.text[end:].partition("\n")[0]
    if _OKAY_COMMENT.search(rest_of_line):
        return None
    sign_match, minus_match = _SIGN.search(before), _MINUS.search(before)
    sign = sign_match["sign"] if sign_match else ""
    value = Decimal(f"{digits or '0'}.{fraction or '0'}")
    is_negative = sign == "-" or minus_match is not None
    all_digits = (digits + fraction).lstrip("0")
    separator = next((char for char, latex in SEPARATORS.items() if latex == match["parted"]), "")
    kind = "n" if match["bare"] else "f"
    format = ("!" if minus_match and not sign_match else "") + ("+" if sign == "+" else "") + separator
    format += f".{len(fraction)}{kind}" if fraction else "d"
    return TypedNumber(
        source=file,
        start=start - len(sign),
        end=end,
        value=-value if is_negative else value,
        decimals=len(fraction),
        significant=len(all_digits if fraction else all_digits.rstrip("0")),
        format=format,
        percent=_PERCENT.match(text, end) is not None,
    )


def visible_text(file: LatexFile, macro: str, names: Iterable[str] = ()) -> str:
    """Return a file's text with blanks for all but printed words and typed numbers, so that offsets stay."""
    text = replace_between(file.code, _SILENT_ENVIRONMENT, "\\end{%s}", blank_out)
    for pattern in (_SETTING, _LENGTH):
        text = pattern.sub(lambda match: blank_out(match[0]), text)
    text = _body_text(text)
    text = CITE.sub(lambda match: blank_out(match[0]), text)
    bound_commands = (macro, *(f"bound{name}" for name in ("val", "rows", "claim", "table", "figure")))
    text = without_commands(text, _SILENT | dict.fromkeys(bound_commands, 1))
    for pattern in (_DOI, _DATE, _POWER, _SCRIPT):
        text = pattern.sub(lambda match: blank_out(match[0]), text)
    for name in names:
        text = re.sub(rf"(?<!\w)(?:{name})(?!\w)", lambda match: blank_out(match[0]), text)
    return text


def replace_between(text: str, opening: re.Pattern[str], closing: str, replacement: Callable[[str], str]) -> str:
    """Return a text with each block from `opening` to `closing` replaced; in `closing`, `%s` is the match's group 1."""
    output, position = [], 0
    never_closed: set[str] = set()
    for match in opening.finditer(text):
        if match.start() < position or match[1] in never_closed:
            continue
        end_mark = closing % match[1]
        mark_start = text.find(end_mark, match.end())
        if mark_start < 0:
            never_closed.add(match[1])
            continue
        end = mark_start + len(end_mark)
        output += [text[position : match.start()], replacement(text[match.start() : end])]
        position = end
    return "".join([*output, text[position:]])


def _body_text(text: str) -> str:
    r"""Return a text with blanks outside the body, except for the title and the text of the author's commands."""
    begin = text.find(r"\begin{document}")
    match = source.END.search(text)
    end = match.start() if match else len(text)
    if begin < 0:
        return text[:end] + blank_out(text[end:])
    preamble = text[:begin]
    closing = closing_places(preamble)
    spans = (_last_group(preamble, match.end(), closing) for match in _TEXT_COMMAND.finditer(preamble))
    output, position = "", 0
    for start, stop in filter(None, spans):
        if start >= position:
            output += blank_out(preamble[position:start]) + preamble[start:stop]
            position = stop
    return output + blank_out(preamble[position:]) + text[begin:end] + blank_out(text[end:])


def _last_group(preamble: str, offset: int, closing: dict[int, int]) -> tuple[int, int] | None:
    r"""Return the span of the text that a command such as `\title` or `\newcommand` defines; None if there is none."""
    span = None
    gap = re.compile(r"\s*(?:\\[A-Za-z@]+|\[[^\]]*\]|#\d)?\s*")
    while True:
        match = gap.match(preamble, offset)
        offset = match.end() if match else offset
        if offset in closing and (span is None or preamble[span[0] + 1 : span[1] - 1].strip().startswith("\\")):
            span = (offset, closing[offset])
            offset = closing[offset]
        elif match is None or match.end() == match.start():
            return span
