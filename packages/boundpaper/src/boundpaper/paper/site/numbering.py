"""Number chapters, sections, formulas and floats as LaTeX does, and write references as cleveref does."""

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
    """The target of a label: kind, number, and address relative to the site's folder."""

    kind: str
    number: str
    address: str

    @property
    def words(self) -> str:
        """Return the label as in a title: `Figure 8.1`."""
        return f"{_WORD[self.kind]} {self.number}".strip()


@dataclass
class Numbers:
    """The numbers in all chapters.

    `labels` has targets by label name, `places` the numbers by chapter and offset of their command, and `chapters` the
    number of each chapter, empty for a chapter without one, such as the abstract.
    """

    labels: dict[str, Label] = field(default_factory=dict)
    places: dict[str, dict[int, str]] = field(default_factory=dict)
    chapters: dict[str, str] = field(default_factory=dict)


def number_chapters(texts: Iterable[tuple[str, str, str]]) -> Numbers:
    """Return the numbers in chapters, given as (name, number, LaTeX) in order; appendices have letters."""
    numbers = Numbers()
    for name, chapter, text in texts:
        counts = dict.fromkeys(("section", "subsection", "equation", "table", "figure"), 0)
        places = numbers.places.setdefault(name, {})
        numbers.chapters[name] = chapter
        page, last, floating = addresses.chapter(name), Label("chapter", chapter, addresses.chapter(name)), ""

        def step(kind: str, counts: dict[str, int] = counts, chapter: str = chapter) -> str:
            counts[kind] += 1
            if kind == "section":
                counts["subsection"] = 0
            of_section = [str(counts["section"])] if kind == "subsection" else []
            return ".".join(filter(None, (chapter, *of_section, str(counts[kind]))))

        for match in _STEP.finditer(text):
            kind = match["head"] or match["formula"] or match["kind"] or (floating if match["caption"] else "")
            if match["float"]:
                floating = match["float"]
            elif match["label"]:
                numbers.labels[match["label"]] = Label(last.kind, last.number, f"{page}#{match['label']}")
            elif kind and not match["star"]:
                number = chapter if kind == "chapter" else step(kind)
                places[match.start()] = number
                appended = kind in ("chapter", "section", "subsection") and chapter[:1].isalpha()
                last = Label("appendix" if appended else kind, number, page)
                if match["name"]:
                    label = f"{kind[:3]}:{match['name']}"
                    numbers.labels[label] = Label(kind, number, f"{page}#{label}")
    return numbers


def reference_links(labels: Sequence[Label], command: str) -> str:
    """Return references to labels as links, sorted and joined as by cleveref: `Tables 4.1 and 4.2 and Section 5`."""
    if command in ("ref", "eqref"):
        return ", ".join(_link(each, bare=command == "ref") for each in labels)
    kinds = list(dict.fromkeys(_WORD[each.kind] for each in labels))
    groups = []
    for word in kinds:
        chosen = sorted((each for each in labels if _WORD[each.kind] == word), key=_sort_key)
        plural = {"Appendix": "Appendices"}.get(word, f"{word}s") if len(chosen) > 1 else word
        groups.append(f"{plural}\u00a0{_join_parts(_links_as_ranges(chosen), last=AND)}")
    return _join_parts(groups, last=f",{AND}")


def _links_as_ranges(labels: list[Label]) -> list[str]:
    """Return links in order; three or more consecutive numbers become a range."""
    runs: list[list[Label]] = []
    for _, run in groupby(enumerate(labels), key=lambda item: _key_of_followers(item[1], item[0])):
        each = [label for _, label in run]
        runs += [each] if len(each) > 2 else [[one] for one in each]
    return [_link(run[0]) if len(run) == 1 else f"{_link(run[0])} to\u00a0{_link(run[-1])}" for run in runs]


def _key_of_followers(label: Label, place: int) -> tuple[str, int]:
    """Return a key that adjacent labels share if their numbers are consecutive."""
    before, _, last = label.number.rpartition(".")
    return before, (int(last) if last.isdecimal() else ord(last[:1] or "?")) - place


def _sort_key(label: Label) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (1 << 30, part) for part in label.number.split(".")]


def _join_parts(parts: list[str], last: str) -> str:
    if len(parts) < 3:
        return AND.join(parts)
    return ", ".join(parts[:-1]) + last + parts[-1]


def _link(label: Label, *, bare: bool = False) -> str:
    shown = f"({label.number})" if label.kind == "equation" and not bare else label.number
    return f'<a class="ref" href="../{escape(label.address)}">{shown}</a>'
