"""Number chapters, sections, formulas and floats like LaTeX, and write references like cleveref."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from boundpaper.typeset import addresses

_STEP = re.compile(
    r"\\%|%[^\n]*|\\(?P<head>chapter|section|subsection)(?P<star>\*?)(?=[\[{])|\\begin\{(?P<formula>equation)\}"
    r"|\\input\{(?P<kind>table|figure)s/(?P<name>[^{}]*?)(?:\.float)?\}|\\begin\{(?P<float>table|figure)\}"
    r"|(?P<caption>\\caption)(?=[\[{])|\\label\{(?P<label>[^{}]*)\}"
)
AND = " and\u00a0"
_WORD = {"equation": "Equation", "table": "Table", "figure": "Figure", "chapter": "Chapter", "appendix": "Appendix"}
_WORD |= {"section": "Section", "subsection": "Section"}


@dataclass(frozen=True)
class Label:
    """The target of a label: its kind, its number, and its address relative to the site's folder."""

    kind: str
    number: str
    address: str

    @property
    def words(self) -> str:
        """Return the kind and the number, as in `Figure 8.1`."""
        return f"{_WORD[self.kind]} {self.number}".strip()


@dataclass
class Numbers:
    """The numbers of all chapters, and of their sections, formulas, tables and figures.

    `labels` has the targets by the name of the label. `places` has the numbers by chapter and by the offset of the
    command that is numbered. `chapters` has the number of each chapter, which is empty for the abstract.
    """

    labels: dict[str, Label] = field(default_factory=dict)
    places: dict[str, dict[int, str]] = field(default_factory=dict)
    chapters: dict[str, str] = field(default_factory=dict)


def number_chapters(texts: Iterable[tuple[str, str, str]]) -> Numbers:
    """Number sections, formulas and floats of chapters, given as (name, number, LaTeX); appendices have letters."""
    numbers = Numbers()
    for name, chapter, text in texts:
        counts = dict.fromkeys(("section", "subsection", "equation", "table", "figure"), 0)
        places = numbers.places.setdefault(name, {})
        numbers.chapters[name] = chapter
        page = addresses.chapter(name)
        target, float_kind = Label("chapter", chapter, page), ""

        def next_number(kind: str, counts: dict[str, int] = counts, chapter: str = chapter) -> str:
            counts[kind] += 1
            if kind == "section":
                counts["subsection"] = 0
            section = str(counts["section"]) if kind == "subsection" else ""
            return ".".join(filter(None, (chapter, section, str(counts[kind]))))

        for match in _STEP.finditer(text):
            kind = match["head"] or match["formula"] or match["kind"] or (float_kind if match["caption"] else "")
            if match["float"]:
                float_kind = match["float"]
            elif match["label"]:
                numbers.labels[match["label"]] = Label(target.kind, target.number, f"{page}#{match['label']}")
            elif kind and not match["star"]:
                number = chapter if kind == "chapter" else next_number(kind)
                places[match.start()] = number
                in_appendix = kind in ("chapter", "section", "subsection") and chapter[:1].isalpha()
                target = Label("appendix" if in_appendix else kind, number, page)
                if match["name"]:
                    label = f"{kind[:3]}:{match['name']}"
                    numbers.labels[label] = Label(kind, number, f"{page}#{label}")
    return numbers


def reference_links(labels: Sequence[Label], command: str) -> str:
    """Return references to labels as links, sorted and joined as by cleveref: `Tables 4.1 and 4.2 and Section 5`."""
    if command in ("ref", "eqref"):
        return ", ".join(_link(label, bare=command == "ref") for label in labels)
    references = []
    for noun in dict.fromkeys(_WORD[label.kind] for label in labels):
        same_kind = sorted((label for label in labels if _WORD[label.kind] == noun), key=_sort_key)
        word = {"Appendix": "Appendices"}.get(noun, f"{noun}s") if len(same_kind) > 1 else noun
        references.append(f"{word}\u00a0{_join_references(_links_as_ranges(same_kind), last=AND)}")
    return _join_references(references, last=f",{AND}")


def _links_as_ranges(labels: list[Label]) -> list[str]:
    """Return links to sorted labels; three or more consecutive numbers become a range."""
    runs: list[list[Label]] = []
    for _, group in groupby(enumerate(labels), key=lambda numbered: _run_key(numbered[1], numbered[0])):
        run = [label for _, label in group]
        runs += [run] if len(run) > 2 else [[label] for label in run]
    return [_link(run[0]) if len(run) == 1 else f"{_link(run[0])} to\u00a0{_link(run[-1])}" for run in runs]


def _run_key(label: Label, position: int) -> tuple[str, int]:
    """Return a key that is equal for labels that have consecutive numbers at consecutive positions, to group them."""
    chapter, _, last = label.number.rpartition(".")
    return chapter, (int(last) if last.isdecimal() else ord(last[:1] or "?")) - position


def _sort_key(label: Label) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (1 << 30, part) for part in label.number.split(".")]


def _join_references(references: list[str], last: str) -> str:
    if len(references) < 3:
        return AND.join(references)
    return ", ".join(references[:-1]) + last + references[-1]


def _link(label: Label, *, bare: bool = False) -> str:
    number = f"({label.number})" if label.kind == "equation" and not bare else label.number
    return f'<a class="ref" href="../{escape(label.address)}">{number}</a>'
