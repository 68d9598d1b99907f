"""Lint chapters: numbers must come from artifacts, citations from the bibliography, references from existing labels."""

import re
from collections.abc import Iterable, Mapping
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
_BARE = re.compile(r"(?:[-+<>=\u2248]|\\pm|\\approx|\\sim|\\le|\\ge|\\leq|\\geq)*\d[\d.,]*(?:\\%|\\times|\^\\circ)?")
_VALUE = re.compile(r"(?:[=<>]|\\approx|\\leq?|\\geq?|\\sim)[-+]?\d*\.\d|(?<![A-Za-z\\])[nN](?:=|\\approx)\d")
_APART = re.compile(r"(?:>>|\d|\$)(?:[ ~\n]|\\[,;: ])+\\%")
_LITERAL = re.compile(r"\s*[-+]?\d")


@dataclass(frozen=True)
class ChapterFault:
    """A fault of a chapter: its place, what is wrong, and how to mend it."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def check_chapters(
    chapters: Mapping[str, str], entries: Mapping[str, int], names: Iterable[str] = (), terms: Iterable[str] = ()
) -> list[ChapterFault]:
    """Check all chapters together.

    `entries` has the keys of the bibliography, and the line on which each begins; `names` and `terms` are as for
    `find_typed_digits`.
    """
    findings = [item for file, text in chapters.items() for item in find_typed_digits(text, file, names, terms)]
    findings += [item for file, text in chapters.items() for item in find_spaced_percents(text, file)]
    findings += find_unknown_citations(chapters, entries) + uncited_entries(chapters, entries)
    return findings + find_unknown_references(chapters) + find_label_faults(chapters) + find_uncalled_exhibits(chapters)


def find_spaced_percents(text: str, file: str) -> list[ChapterFault]:
    r"""Find percent signs that are separated from their number: the house style is `27.0\%`, as formats print it."""
    return [
        ChapterFault(
            file, line_of(text, match.start()), "a space before \\%: the percent sign follows its number at once"
        )
        for match in _APART.finditer(without_hidden(text))
    ]


def find_uncalled_exhibits(chapters: Mapping[str, str]) -> list[ChapterFault]:
    r"""Find exhibits that a chapter includes but that no chapter refers to with `\cref`."""
    called = {
        key for text in chapters.values() for match in _REFERENCE.finditer(_code(text)) for key in _keys(match["keys"])
    }
    prefixes = {"table": "tab", "figure": "fig"}
    return [
        ChapterFault(file, 1, f"the {what} {name!r} is shown and never called: write \\cref{{{prefixes[what]}:{name}}}")
        for file, text in chapters.items()
        for what, name, _ in calls.dependencies(text, file)
        if what in prefixes and f"{prefixes[what]}:{name}" not in called
    ]


def find_typed_digits(text: str, file: str, names: Iterable[str] = (), terms: Iterable[str] = ()) -> list[ChapterFault]:
    """Find digits that are typed into prose instead of read from an artifact.

    Years from 1900 to 2099, headings, mathematics, labels, citations, lengths, comments and template expressions may
    hold them; so may what `names` and `terms` list. A formula that only states a value (`$0.87$`, `$r = 0.87$`) is a
    number in disguise, unless it is a listed term. `names` are regular expressions, matched as whole words; `terms` are
    fixed words.
    """
    findings = [
        ChapterFault(file, line_of(text, offset), "a number typed into << >>: read it with n('artifact', ...)")
        for offset, code in calls.expressions(text, file)
        if text[offset - 2 : offset] == "<<" and _LITERAL.match(code)
    ]
    listed = {re.sub(r"\s", "", term) for term in terms}
    for match in _MATH.finditer(_code(text)):
        if _states_value(match[0]) and re.sub(r"\s", "", match[0]) not in listed:
            findings.append(ChapterFault(file, line_of(text, match.start()), _typed_fault(match[0])))
    prose = words_of(text)
    allowed = [*names, *(re.escape(term) for term in terms), _YEAR]
    # A name may not be the head or tail of a longer number: 2-D is no excuse for 12-D, nor 2026 for 2026.5.
    known = re.compile(rf"(?<![\w.])(?:{'|'.join(f'(?:{item})' for item in allowed)})(?![\w%]|[.,]\d)")
    prose = known.sub(lambda match: blank_out(match[0]), prose)
    for match in _WORD.finditer(prose):
        if not _DIGIT.search(match[0]):
            continue
        findings.append(ChapterFault(file, line_of(text, match.start()), _typed_fault(match[0].strip("()[]{},.;:'`~"))))
    return sorted(findings, key=lambda finding: finding.line)


def find_unknown_citations(chapters: Mapping[str, str], entries: Mapping[str, int]) -> list[ChapterFault]:
    r"""Find `\cite` keys that the bibliography does not hold; `entries` are its keys with their lines."""
    findings = []
    for file, text in chapters.items():
        for match in CITE.finditer(_code(text)):
            for key in _keys(match["keys"]):
                if key not in entries and key != "*":
                    what = f"\\cite of {key!r}, which paper/references.bib does not hold{or_known(key, entries)}"
                    findings.append(ChapterFault(file, line_of(text, match.start()), what))
    return findings


def cited_by_tables(root: Path, entries: Mapping[str, int]) -> list[str]:
    """Return keys that the bibliography lacks, by file and row, in columns that the data package marks as citations."""
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
                        what = f"{key!r}, which paper/references.bib does not hold{or_known(key, entries)}"
                        findings.append(f"{file}: row {number}, {field['name']}: names {what}")
    return findings


def cited_keys(text: str) -> tuple[str, ...]:
    r"""Return the keys that a chapter's template cites, in order, without repeats."""
    keys = (key for match in CITE.finditer(_code(text)) for key in _keys(match["keys"]))
    return tuple(dict.fromkeys(keys))


def uncited_entries(chapters: Mapping[str, str], entries: Mapping[str, int]) -> list[ChapterFault]:
    r"""Find entries of the bibliography that no chapter cites, unless one says `\nocite{*}`."""
    used = {key for text in chapters.values() for key in cited_keys(text)}
    if "*" in used:
        return []
    return [
        ChapterFault(
            "paper/references.bib", line, f"no chapter cites {key!r}: cite it where it is used, or take it out"
        )
        for key, line in entries.items()
        if key not in used
    ]


def find_unknown_references(chapters: Mapping[str, str]) -> list[ChapterFault]:
    r"""Find `\ref` and similar commands to labels that neither a chapter nor an exhibit included in a chapter sets."""
    labels: set[str] = set()
    for file, text in chapters.items():
        labels.update(match["key"] for match in _LABEL.finditer(_code(text)))
        prefixes = {"table": "tab", "figure": "fig"}
        labels.update(
            f"{prefixes[what]}:{name}" for what, name, _ in calls.dependencies(text, file) if what in prefixes
        )
    findings = []
    for file, text in chapters.items():
        for match in _REFERENCE.finditer(_code(text)):
            for key in _keys(match["keys"]):
                if key not in labels:
                    findings.append(ChapterFault(file, line_of(text, match.start()), _unknown_reference(key, labels)))
    return findings


def find_label_faults(chapters: Mapping[str, str]) -> list[ChapterFault]:
    r"""Find each `\label` that is set a second time, and each exhibit that is shown a second time, with both places."""
    first: dict[str, str] = {}
    findings = []
    prefixes = {"table": "tab", "figure": "fig"}
    for file, text in chapters.items():
        places = [(line_of(text, match.start()), match["key"].strip()) for match in _LABEL.finditer(_code(text))]
        shown = [(line, what, name) for what, name, line in calls.dependencies(text, file) if what in prefixes]
        places += [(line, f"{prefixes[what]}:{name}") for line, what, name in shown]
        for line, key in sorted(places):
            if key in first:
                what = f"the label {key!r} is set in {first[key]} already: give one of them another name"
                if key.startswith(("tab:", "fig:")):
                    what = f"{key!r} is shown or set in {first[key]} already: show an exhibit once, and refer to it"
                findings.append(ChapterFault(file, line, what))
            else:
                first[key] = f"{file}:{line}"
    return findings


def _states_value(formula: str) -> bool:
    """Return whether an inline formula states a value: a bare number, a decimal after a relation, or a sample size."""
    if formula.startswith(("$$", r"\[", r"\begin")):
        return False
    inner = re.sub(r"\\[,;!: ]|[{}~]|\s", "", formula.removeprefix(r"\(").removesuffix(r"\)").strip("$"))
    return bool(_BARE.fullmatch(inner) or _VALUE.search(inner))


def _typed_fault(shown: str) -> str:
    return (
        f"'{shown}' is typed in: read it with << n('artifact', ...) | fixed(2) >>, write a small count as a word, or, "
        "if it is a name, add it to names or terms in paper/metadata.yaml"
    )


def _unknown_reference(key: str, labels: set[str]) -> str:
    prefix, _, name = key.partition(":")
    function = {"tab": "table", "fig": "figure"}.get(prefix)
    if function and not or_known(key, labels).startswith("; did"):
        return f"\\ref to {key!r}, but no chapter includes << {function}({name!r}) >>"
    return f"\\ref to {key!r}, a label that nothing sets{or_known(key, sorted(labels))}"


def _code(text: str) -> str:
    """Return the template without comments, verbatim parts and expressions, with every line at its place."""
    return without_hidden(_without_tags(text))


def words_of(text: str) -> str:
    """Return the text that a reader sees as words; headings, labels, mathematics and calls become blanks."""
    text = _MATH.sub(_blank_match, _code(text))
    text = CITE.sub(_blank_match, text)  # notes too: `Table 2` names a part of the work cited
    return without_commands(_LENGTH.sub(_blank_match, text), SILENT)


def _without_tags(text: str) -> str:
    pieces, position = [], 0
    for _, start, end in calls.tags(text):
        pieces += [text[position : start - 2], blank_out(text[start - 2 : end + 2])]
        position = end + 2
    return "".join([*pieces, text[position:]])


def _blank_match(match: re.Match[str]) -> str:
    return blank_out(match[0])


def _keys(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]
