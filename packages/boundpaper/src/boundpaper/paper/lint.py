"""Lint chapters: numbers must come from artifacts, and citations and references must name what exists."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from boundpaper.paper import calls
from boundpaper.paper.calls import line_of as line_of
from boundpaper.paper.visible import CITE, SILENT, blank_out, without_commands, without_hidden
from boundpaper.suggestions import or_known

_YEAR = r"(?:19|20)\d\d"
_MATH = re.compile(
    r"(?<!\\)\$\$.*?(?<!\\)\$\$|(?<!\\)\$(?:\\.|[^$\\])*\$|\\\((?:(?!\\\().)*?\\\)|\\\[(?:(?!\\\[).)*?\\\]"
    r"|\\begin\{(?P<environment>(?:equation|align|gather|multline|eqnarray|math|displaymath|verbatim|tikzpicture)\*?)\}"
    r"(?:(?!\\begin\{(?P=environment)\}).)*?\\end\{(?P=environment)\}",
    re.DOTALL,
)
_REFERENCE = re.compile(r"\\(?:ref|cref|Cref|autoref|nameref|eqref|pageref|labelcref)\*?\s*\{(?P<keys>[^{}]*)\}")
_LABEL = re.compile(r"\\label\s*(?:\[[^\]\\]*\])?\{(?P<key>[^{}]*)\}")
_LENGTH = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?\\(?:textwidth|linewidth|columnwidth|baselineskip)")
_WORD = re.compile(r"\S+")
_DIGIT = re.compile(r"\d")
_BARE_NUMBER = re.compile(
    r"(?:[-+<>=\u2248]|\\pm|\\approx|\\sim|\\le|\\ge|\\leq|\\geq)*\d[\d.,]*(?:\\%|\\times|\^\\circ)?"
)
_STATED_VALUE = re.compile(r"(?:[=<>]|\\approx|\\leq?|\\geq?|\\sim)[-+]?\d*\.\d|(?<![A-Za-z\\])[nN](?:=|\\approx)\d")
_SPACED_PERCENT = re.compile(r"(?:>>|\d|\$)(?:[ ~\n]|\\[,;: ])+\\%")
_LITERAL = re.compile(r"\s*[-+]?\d")
_PREFIXES = {"table": "tab", "figure": "fig"}  # prefixes of the labels of exhibits


@dataclass(frozen=True)
class ChapterFault:
    """A fault in a chapter: its place, what is wrong, and how to correct it."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def check_chapters(
    chapters: Mapping[str, str], entries: Mapping[str, int], names: Iterable[str] = (), terms: Iterable[str] = ()
) -> list[ChapterFault]:
    """Return the faults of all chapters.

    `entries` maps keys of the bibliography to their lines; `names` and `terms` are as in `find_typed_digits`.
    """
    findings = [fault for file, text in chapters.items() for fault in find_typed_digits(text, file, names, terms)]
    findings += [fault for file, text in chapters.items() for fault in find_spaced_percents(text, file)]
    findings += find_unknown_citations(chapters, entries) + uncited_entries(chapters, entries)
    return findings + find_unknown_references(chapters) + find_label_faults(chapters) + find_uncalled_exhibits(chapters)


def find_spaced_percents(text: str, file: str) -> list[ChapterFault]:
    r"""Find percent signs after a blank; number formats print them directly after the number (`27.0\%`)."""
    fault = "a space before \\%: put the percent sign directly after its number"
    matches = _SPACED_PERCENT.finditer(without_hidden(text))
    return [ChapterFault(file, line_of(text, match.start()), fault) for match in matches]


def find_uncalled_exhibits(chapters: Mapping[str, str]) -> list[ChapterFault]:
    r"""Find exhibits that a chapter includes but no chapter refers to with `\cref`."""
    referenced_keys = {key for text in chapters.values() for _, key in _keys_in(text, _REFERENCE)}
    return [
        ChapterFault(file, 1, f"the {kind} {name!r} has no reference: write \\cref{{{_PREFIXES[kind]}:{name}}}")
        for file, text in chapters.items()
        for kind, name, _ in calls.dependencies(text, file)
        if kind in _PREFIXES and f"{_PREFIXES[kind]}:{name}" not in referenced_keys
    ]


def find_typed_digits(text: str, file: str, names: Iterable[str] = (), terms: Iterable[str] = ()) -> list[ChapterFault]:
    """Find digits that are typed into prose instead of read from an artifact.

    Digits are allowed in years from 1900 to 2099, headings, mathematics, labels, citations, lengths, comments and
    template expressions. They are also allowed in `names`, which are regular expressions for whole words, and in the
    fixed words `terms`. A formula that only states a value (`$0.87$`, `$r = 0.87$`) counts as a typed number, unless
    it is in `terms`.
    """
    findings = [
        ChapterFault(file, line_of(text, offset), "a number typed into << >>: read it with n('artifact', ...)")
        for offset, code in calls.expressions(text, file)
        if text[offset - 2 : offset] == "<<" and _LITERAL.match(code)
    ]
    formulas = {re.sub(r"\s", "", term) for term in terms}
    for match in _MATH.finditer(_without_code(text)):
        if _states_value(match[0]) and re.sub(r"\s", "", match[0]) not in formulas:
            findings.append(ChapterFault(file, line_of(text, match.start()), _typed_fault(match[0])))
    prose = words_of(text)
    patterns = [*names, *(re.escape(term) for term in terms), _YEAR]
    # A name must not be part of a longer number: 2-D does not allow 12-D, nor 2026 allow 2026.5.
    allowed_words = re.compile(rf"(?<![\w.])(?:{'|'.join(f'(?:{pattern})' for pattern in patterns)})(?![\w%]|[.,]\d)")
    for match in _WORD.finditer(allowed_words.sub(_blank_match, prose)):
        if _DIGIT.search(match[0]):
            fault = _typed_fault(match[0].strip("()[]{},.;:'`~"))
            findings.append(ChapterFault(file, line_of(text, match.start()), fault))
    return sorted(findings, key=lambda finding: finding.line)


def find_unknown_citations(chapters: Mapping[str, str], entries: Mapping[str, int]) -> list[ChapterFault]:
    r"""Find `\cite` keys that are not in the bibliography; `entries` maps the keys of the bibliography to lines."""
    findings = []
    for file, text in chapters.items():
        for line, key in _keys_in(text, CITE):
            if key not in entries and key != "*":
                fault = f"\\cite of {key!r}, which is not in paper/references.bib{or_known(key, entries)}"
                findings.append(ChapterFault(file, line, fault))
    return findings


def cited_by_tables(root: Path, entries: Mapping[str, int]) -> list[str]:
    """Check citation keys in columns that the data package marks with `cites`; return messages on unknown keys."""
    from boundpaper.store.descriptor import files, full_package
    from boundpaper.store.missing import missing_markers
    from boundpaper.store.table_file import rows

    findings = []
    for resource in full_package(root)["resources"]:
        fields = [field for field in resource["schema"]["fields"] if field.get("cites")]
        for file in files(root, resource["name"]) if fields else ():
            for number, row in rows(root / file):
                for field in fields:
                    key = row[field["name"]]
                    if key not in entries and key and key not in missing_markers(field, resource["schema"]):
                        fault = f"{key!r}, which is not in paper/references.bib{or_known(key, entries)}"
                        findings.append(f"{file}: row {number}, {field['name']}: names {fault}")
    return findings


def cited_keys(text: str) -> tuple[str, ...]:
    r"""Return the distinct keys that a chapter's template cites, in order."""
    return tuple(dict.fromkeys(key for _, key in _keys_in(text, CITE)))


def uncited_entries(chapters: Mapping[str, str], entries: Mapping[str, int]) -> list[ChapterFault]:
    r"""Find bibliography entries that no chapter cites; none if a chapter has `\nocite{*}`."""
    cited = {key for text in chapters.values() for key in cited_keys(text)}
    if "*" in cited:
        return []
    return [
        ChapterFault("paper/references.bib", line, f"no chapter cites {key!r}: cite it where it is used, or remove it")
        for key, line in entries.items()
        if key not in cited
    ]


def find_unknown_references(chapters: Mapping[str, str]) -> list[ChapterFault]:
    r"""Find references, such as `\ref`, to labels that no chapter and no included exhibit defines."""
    labels: set[str] = set()
    for file, text in chapters.items():
        labels.update(match["key"] for match in _LABEL.finditer(_without_code(text)))
        exhibits = ((kind, name) for kind, name, _ in calls.dependencies(text, file) if kind in _PREFIXES)
        labels.update(f"{_PREFIXES[kind]}:{name}" for kind, name in exhibits)
    findings = []
    for file, text in chapters.items():
        for line, key in _keys_in(text, _REFERENCE):
            if key not in labels:
                findings.append(ChapterFault(file, line, _unknown_reference(key, labels)))
    return findings


def find_label_faults(chapters: Mapping[str, str]) -> list[ChapterFault]:
    r"""Find labels that are defined twice, and exhibits that are shown twice; each fault names both places."""
    first_places: dict[str, str] = {}
    findings = []
    for file, text in chapters.items():
        labels = [
            (line_of(text, match.start()), match["key"].strip()) for match in _LABEL.finditer(_without_code(text))
        ]
        exhibits = [call for call in calls.dependencies(text, file) if call[0] in _PREFIXES]
        labels += [(line, f"{_PREFIXES[kind]}:{name}") for kind, name, line in exhibits]
        for line, key in sorted(labels):
            if key not in first_places:
                first_places[key] = f"{file}:{line}"
                continue
            place = first_places[key]
            fault = f"the label {key!r} is already defined in {place}: rename one of them"
            if key.startswith(("tab:", "fig:")):
                fault = f"{key!r} is already shown or defined in {place}: show an exhibit once and refer to it"
            findings.append(ChapterFault(file, line, fault))
    return findings


def _states_value(formula: str) -> bool:
    """Return whether an inline formula only states a value: a number, a decimal after `=` or `<`, or a sample size."""
    if formula.startswith(("$$", r"\[", r"\begin")):
        return False
    content = re.sub(r"\\[,;!: ]|[{}~]|\s", "", formula.removeprefix(r"\(").removesuffix(r"\)").strip("$"))
    return bool(_BARE_NUMBER.fullmatch(content) or _STATED_VALUE.search(content))


def _typed_fault(number: str) -> str:
    return (
        f"'{number}' is typed: read it with << n('artifact', ...) | fixed(2) >>, write a small count as a word, or, "
        "if it is a name, add it to names or terms in paper/metadata.yaml"
    )


def _unknown_reference(key: str, labels: set[str]) -> str:
    prefix, _, name = key.partition(":")
    function = {"tab": "table", "fig": "figure"}.get(prefix)
    if function and not or_known(key, labels).startswith("; did"):
        return f"\\ref to {key!r}, but no chapter includes << {function}({name!r}) >>"
    return f"\\ref to {key!r}, a label that is not defined{or_known(key, sorted(labels))}"


def _without_code(text: str) -> str:
    """Return a template with blanks for comments, verbatim parts and expressions; line numbers stay the same."""
    pieces, position = [], 0
    for _, start, end in calls.tags(text):
        pieces += [text[position : start - 2], blank_out(text[start - 2 : end + 2])]
        position = end + 2
    return without_hidden("".join([*pieces, text[position:]]))


def words_of(text: str) -> str:
    """Return the text that readers see as words, with blanks for headings, labels, mathematics and calls."""
    text = _MATH.sub(_blank_match, _without_code(text))
    text = CITE.sub(_blank_match, text)  # also the notes, in which `Table 2` is a part of the cited work
    return without_commands(_LENGTH.sub(_blank_match, text), SILENT)


def _blank_match(match: re.Match[str]) -> str:
    return blank_out(match[0])


def _keys_in(text: str, command: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield line and key for every key in the commands of a template that match the pattern `command`."""
    for match in command.finditer(_without_code(text)):
        for key in filter(None, map(str.strip, match["keys"].split(","))):
            yield line_of(text, match.start()), key
