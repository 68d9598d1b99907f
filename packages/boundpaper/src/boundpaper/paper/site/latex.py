r"""Convert the LaTeX of chapters to HTML.

Known commands are converted, or ignored if they only affect the page layout; any other command is a fault with its
line. Commands that the paper's preamble defines are expanded.
"""

import re
from collections.abc import Callable, Mapping
from html import escape
from itertools import pairwise

from boundpaper.paper.bibliography.formulas import convert_formula
from boundpaper.paper.bibliography.signs import MarkupFault
from boundpaper.paper.site.numbering import Label, reference_links
from boundpaper.paper.site.page import mathml
from boundpaper.typeset.characters import LATEX
from boundpaper.typeset.words_of import words_of_html

SIGNS = {
    "holds": ("✓", "holds"),
    "rounded": ("≈", "holds after rounding"),
    "insignificant": ("∼", "not significant"),
    "unsupported": ("○", "not supported"),
    "contradicted": ("×", "contradicted"),
    "untestable": ("□", "not testable"),
}
"""Character and verdict of each mark in a chapter."""
WRAPPED = {
    "emph": ("<em>", "</em>"),
    "textit": ("<i>", "</i>"),
    "textbf": ("<strong>", "</strong>"),
    "texttt": ("<code>", "</code>"),
    "textsuperscript": ("<sup>", "</sup>"),
    "textsubscript": ("<sub>", "</sub>"),
    "textsc": ('<span class="capitals">', "</span>"),
    "enquote": ("“", "”"),
    **dict.fromkeys(("mbox", "textrm", "textup", "textnormal", "textsf", "text"), ("", "")),
}
PAPER = frozenset(
    """
    small footnotesize normalsize centering noindent clearpage newpage cleardoublepage medskip smallskip bigskip
    raggedright sloppy toprule midrule bottomrule addlinespace hline pagebreak nopagebreak linebreak phantomsection
    allowbreak quad qquad ignorespaces
    """.split()
)
"""Commands without arguments that only affect the page layout."""
PAPER_WITH = frozenset(
    ("vspace", "vspace*", "hspace", "hspace*", "exhibit", "enlargethispage", "markboth", "thispagestyle")
)
"""Commands with an argument that only affect the page layout; `exhibit` precedes the `input` of its table or figure."""
LISTS = {"itemize": "ul", "enumerate": "ol", "description": "dl", "inbrief": "dl"}
BLOCKS = {
    **dict.fromkeys(("center", "quote", "quotation", "flushleft"), '<div class="{0}">{1}</div>'),
    "samepage": "{1}",
}
_TOKEN = re.compile(
    r"(?P<comment>%[^\n]*(?:\n(?![ \t]*\n)[ \t]*)?)"
    r"|(?P<break>\\\\\*?(?:\[[^\]\n]*\])?)"
    r"|\\(?P<command>[A-Za-z]+\*?)(?:\s(?!\s*\n))*"
    r"|\\(?P<sign>[^A-Za-z])"
    r"|(?P<par>\n[ \t]*\n\s*)"
    r"|\$(?P<math>(?:\\.|[^$\\])+)\$"
    r"|(?P<group>\{)"
    r"|(?P<text>---|--|``|''|[^\\%$\n{]|\n)",
    re.DOTALL,
)
_CHARACTERS = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘", "'": "’", "~": "\u00a0", "}": ""}
_SPELT = {latex.removesuffix("{}"): char for char, latex in LATEX.items() if latex[0] in "\\$"} | {
    r"\,": "\u2009", r"\ ": " ", r"\-": "\u00ad", r"\/": "", r"\@": "", r"\ldots": "…", r"\textendash": "–",
    r"\LaTeX": "LaTeX", r"\TeX": "TeX", r"\newline": "<br>", r"\ss": "ß",
}  # fmt: skip
_SCRIPT = re.compile(r"([_^])\{?([0-9+-]+)\}?")
_BOUND = re.compile(r"\\(numberof|verdictof)\{([^{}]*)\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_DEFINED = re.compile(r"\\(?:new|provide|renew)command\*?\{?\\([A-Za-z]+)\}?(?:\[(\d)\])?(?=\{)")


def definitions(preamble: str) -> dict[str, tuple[int, str]]:
    """Return the commands that a preamble defines, each with its number of arguments and its replacement text."""
    matches = _DEFINED.finditer(preamble)
    return {match[1]: (int(match[2] or 0), argument(preamble, match.end())[0]) for match in matches}


def argument(text: str, at: int) -> tuple[str, int, int]:
    """Return the argument that begins at `at`: its content, the offset of the content, and the argument's end."""
    while text[at : at + 1].isspace():
        at += 1
    if text[at : at + 1] != "{":
        return text[at : at + 1], at, at + 1
    depth, place = 0, at
    while place < len(text):
        if text[place] == "\\":
            place += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
        if not depth:
            break
    return text[at + 1 : place - 1], at + 1, place


class ChapterReader:
    """A converter of one chapter to HTML.

    Attributes
    ----------
    text : str
        The LaTeX of the chapter in `out/chapters`.
    name : str
        The chapter's name.
    labels : mapping of str to Label
        The labels of all chapters.
    numbers : mapping of int to str
        Numbers of headings, formulas and floats by their offset in the text.
    macros : mapping
        Commands that the paper defines (`definitions`).
    bound : callable
        Function that returns a link, given a command (`numberof`, `verdictof`), a name, LaTeX and HTML.
    cite : callable
        Function that returns the HTML of a citation, given keys, command and option; empty for an unknown key.
    exhibit : callable
        Function that returns the HTML of an exhibit, given kind, name and number.
    faults : list of str
        What could not be converted, with line numbers.
    heads : list of (int, str, str)
        Level, address and HTML of each heading.
    """

    def __init__(
        self,
        text: str,
        name: str,
        labels: Mapping[str, Label],
        numbers: Mapping[int, str],
        macros: Mapping[str, tuple[int, str]],
        bound: Callable[[str, str, str, str], str],
        cite: Callable[[str, str, str], str],
        exhibit: Callable[[str, str, str], str],
    ) -> None:
        self.text, self.name, self.labels, self.numbers, self.macros = text, name, labels, numbers, macros
        self.bound, self.cite, self.exhibit = bound, cite, exhibit
        self.faults: list[str] = []
        self.heads: list[tuple[int, str, str]] = []
        self.depth = 1  # level of the last heading, run-in headings aside
        self.notes: list[str] = []

    def html(self) -> str:
        """Return the chapter's HTML, with its notes at the end."""
        body = self.read(self.text, 0, flow=True)
        notes = "".join(f'<li id="note-{place}">{note}</li>' for place, note in enumerate(self.notes, 1))
        return body + (f'<section aria-label="Notes"><ol class="notes">{notes}</ol></section>' if notes else "")

    def fault(self, fault: str, at: int) -> str:
        """Record a fault at an offset of the chapter; return an empty text as its HTML."""
        line = self.text.count("\n", 0, at) + 1
        self.faults.append(f"out/chapters/{self.name}.tex:{line}: {fault}")
        return ""

    def read(self, text: str, at: int, *, flow: bool = False) -> str:
        """Return the HTML of the part of the chapter at `at`: paragraphs and blocks if `flow`, else a line."""
        blocks: list[str] = []
        parts: list[str] = []

        def close() -> None:
            if line := "".join(parts).strip():
                blocks.append(f"<p>{line}</p>" if flow else line)
            parts.clear()

        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                self.fault(f"{text[place : place + 20]!r} is not closed", at + place)
                break
            begin, place, kind = place, match.end(), match.lastgroup
            if kind == "par":
                close() if flow else parts.append(" ")
            elif kind == "math":
                parts.append(self.formula(match["math"], at + begin))
            elif kind == "group":
                inner, start, place = argument(text, begin)
                parts.append(self.read(inner, at + start))
            elif kind == "text":
                parts.append(_CHARACTERS.get(match[0], escape(match[0], quote=False)))
            elif kind == "break":
                parts.append("<br>")
            elif kind == "sign":
                if match[0] not in _SPELT:
                    self.fault(f"the web edition does not support {match[0]}", at + begin)
                parts.append(escape(_SPELT.get(match[0], "")))
            elif kind == "command" and match["command"] in ("begin", "item", "par", *HEADINGS, "input"):
                block, place = self.block(match["command"], text, begin, place, at)
                if match["command"] == "begin" and "equation" in text[begin : begin + 17]:
                    parts.append(block)
                else:
                    close()
                    blocks.append(block)
            elif kind == "command":
                html, place = self.command(match["command"], text, begin, place, at)
                parts.append(html)
        close()
        return "\n".join(blocks) if flow else " ".join(blocks)

    def arguments(self, count: int, text: str, place: int, at: int) -> tuple[list[str], list[str], int]:
        """Return the next arguments of a command as LaTeX and as HTML, and the offset of their end."""
        raw, html = [], []
        for _ in range(count):
            inner, start, place = argument(text, place)
            raw.append(inner)
            html.append(self.read(inner, at + start))
        return raw, html, place

    def command(self, name: str, text: str, begin: int, place: int, at: int) -> tuple[str, int]:
        """Return the HTML of a command within a line, and the offset of its end."""
        option = ""
        if text[place : place + 1] == "[" and name not in PAPER and "\\" + name not in _SPELT:
            end = text.index("]", place)
            option, place = self.read(text[place + 1 : end].strip("{}"), at + place + 1), end + 1
        if name in ("numberof", "verdictof"):
            raw, html, place = self.arguments(2, text, place, at)
            return self.bound(name, raw[0], raw[1], html[1]) or self.fault(
                f"\\{name}{{{raw[0]}}} prints {raw[1]!r}, which its template did not read from an artifact", at + begin
            ), place
        if name in ("verdictmark", "verdictsign"):
            raw, place = self.plain(2 if name == "verdictmark" else 1, text, place)
            if raw[-1] not in SIGNS:
                return self.fault(f"\\{name} has the unknown verdict {raw[-1]!r}", at + begin), place
            sign, verdict = SIGNS[raw[-1]]
            kind = verdict.replace(" ", "-")
            return f'<span class="mark v-{kind}" role="img" aria-label="{verdict}">{sign}</span>', place
        if name == "supplement":
            raw, html, place = self.arguments(2, text, place, at)
            return f'<a href="../{escape(raw[0])}.html">{html[1]}</a>', place
        if name in WRAPPED:
            _, html, place = self.arguments(1, text, place, at)
            return html[0].join(WRAPPED[name]), place
        if name in ("cref", "Cref", "ref", "eqref", "autoref"):
            raw, place = self.plain(1, text, place)
            keys = [key.strip() for key in raw[0].split(",")]
            if unknown := [key for key in keys if key not in self.labels]:
                return self.fault(f"\\{name} names {unknown[0]!r}, a label that no chapter defines", at + begin), place
            return reference_links([self.labels[key] for key in keys], name), place
        if name in ("citep", "citet", "citealp", "citeauthor", "citeyear", "cite"):
            raw, place = self.plain(1, text, place)
            return self.cite(name, raw[0], option) or self.fault(
                f"\\{name}{{{raw[0]}}} is not in the bibliography", at + begin
            ), place
        if name == "footnote":
            _, html, place = self.arguments(1, text, place, at)
            self.notes.append(html[0])
            number = len(self.notes)
            tip = escape(words_of_html(html[0]))
            return f'<sup><a class="note" href="#note-{number}" data-tip="{tip}">{number}</a></sup>', place
        if name in ("url", "href"):
            raw, place = self.plain(1 if name == "url" else 2, text, place)
            shown = escape(raw[0]) if name == "url" else self.read(raw[1], at + begin)
            return f'<a href="{escape(raw[0])}">{shown}</a>', place
        if name == "label":
            raw, place = self.plain(1, text, place)
            return f'<span id="{escape(raw[0])}"></span>', place
        if "\\" + name in _SPELT:
            return _SPELT["\\" + name], place
        if name in PAPER:
            return "", place
        if name in PAPER_WITH:
            return "", self.plain(1, text, place)[1]
        if name in self.macros:
            count, meaning = self.macros[name]
            raw, place = self.plain(count, text, place)
            return self.read(re.sub(r"#(\d)", lambda match: raw[int(match[1]) - 1], meaning), at + begin), place
        return self.fault(f"the web edition does not support \\{name}", at + begin), place

    def plain(self, count: int, text: str, place: int) -> tuple[list[str], int]:
        """Return the next arguments as written, and the offset of their end."""
        raw = []
        for _ in range(count):
            inner, _, place = argument(text, place)
            raw.append(inner)
        return raw, place

    def block(self, name: str, text: str, begin: int, place: int, at: int) -> tuple[str, int]:
        """Return the HTML of a heading, an exhibit or an environment, and the offset of its end."""
        if name == "par":
            return "", place
        if name == "item":
            return self.fault("\\item outside a list", at + begin), place
        if name == "input":
            (target,), place = self.plain(1, text, place)
            folder, _, file = target.partition("/")
            kind, stem = folder.removesuffix("s"), file.removesuffix(".float")
            if kind not in ("table", "figure"):
                return self.fault(f"\\input{{{target}}} is neither a table nor a figure", at + begin), place
            return self.exhibit(kind, stem, self.numbers[at + begin]), place
        if name != "begin":
            return self.heading(name, text, begin, place, at)
        (kind,), place = self.plain(1, text, place)
        end = _end_of_environment(text, kind, place)
        if end < 0:
            return self.fault(f"\\begin{{{kind}}} is not closed", at + begin), len(text)
        inner, after = text[place:end], end + len(f"\\end{{{kind}}}")
        if kind in LISTS:
            return self.items(kind, inner, at + place), after
        if kind in ("equation", "equation*"):
            body = re.sub(r"\\label\{([^{}]*)\}", "", inner)
            ids = "".join(f' id="{escape(each)}"' for each in re.findall(r"\\label\{([^{}]*)\}", inner)[:1])
            number = self.numbers.get(at + begin, "")
            shown = f'<span class="tag">({number})</span>' if number else ""
            reached = f'tabindex="0" role="group" aria-label="{f"Equation {number}".strip()}"'  # a wide one scrolls
            formula = self.formula(body, at + place, block=True)
            return f'<span class="equation"{ids} {reached}>{formula}{shown}</span>', after
        if kind in ("table", "figure"):
            return self.floating(kind, inner, at + place), after
        if kind.startswith("tabular"):
            return self.tabular(inner, at + place, ""), after
        if kind in BLOCKS:
            return BLOCKS[kind].format(kind, self.read(inner, at + place, flow=True)), after
        return self.fault(f"the web edition does not support the environment {kind!r}", at + begin), after

    def heading(self, name: str, text: str, begin: int, place: int, at: int) -> tuple[str, int]:
        """Return the HTML of a heading with its number, and with its first label as id."""
        if text[place : place + 1] == "[":
            place = text.index("]", place) + 1
        _, (title,), place = self.arguments(1, text, place, at)
        level, ids = HEADINGS[name], []
        self.depth = level if level < 4 else self.depth
        shown_level = min(level, self.depth + 1)  # a paragraph directly below a section must not skip a heading level
        while label := re.compile(r"\s*\\label\{([^{}]*)\}").match(text, place):
            ids.append(label[1])
            place = label.end()
        number = self.numbers.get(at + begin, "")
        ids = ids or [f"part-{len(self.heads) + 1}"]
        inside = "".join(f'<span id="{escape(each)}"></span>' for each in ids[1:])
        shown = f'<span class="no">{number}</span> {title}' if number else title
        if level > 1:
            self.heads.append((level, ids[0], shown))
        looks = ' class="run-in"' if level > 3 else ""
        return f'<h{shown_level}{looks} id="{escape(ids[0])}">{inside}{shown}</h{shown_level}>', place

    def items(self, kind: str, text: str, at: int) -> str:
        """Return the HTML of a list, in which nested lists stay whole."""
        starts = [match.start() for match in re.finditer(r"\\item\b", text) if not _inside(text, match.start())]
        if text[: starts[0] if starts else len(text)].strip():
            self.fault(f"text before the first \\item of {kind!r}", at)
        entries = []
        for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
            place, term = begin + len("\\item"), ""
            if term_match := re.compile(r"\s*\[((?:[^][{}]|\{[^{}]*\})*)\]").match(text, place):
                term, place = self.read(term_match[1], at + term_match.start(1)), term_match.end()
            body = self.read(text[place:end], at + place, flow=True)
            body = body.removeprefix("<p>").removesuffix("</p>") if body.count("<p>") == 1 else body
            entries.append(f"<dt>{term}</dt><dd>{body}</dd>" if LISTS[kind] == "dl" else f"<li>{body}</li>")
        return f"<{LISTS[kind]}>{''.join(entries)}</{LISTS[kind]}>"

    def floating(self, kind: str, text: str, at: int) -> str:
        """Return the HTML of a float in the chapter: caption with number, then content."""
        caption, labels = re.search(r"\\caption(?:\[[^\]]*\])?(?=\{)", text), re.findall(r"\\label\{([^{}]*)\}", text)
        head = ""
        if caption:
            inner, start, end = argument(text, caption.end())
            number = f"{kind.capitalize()} {self.numbers[at + caption.start()]}"
            head = f'<span class="no">{number}.</span> {self.read(inner, at + start)}'
            text = text[: caption.start()] + " " * (end - caption.start()) + text[end:]
        text = re.sub(r"\\label\{[^{}]*\}", lambda match: " " * len(match[0]), text)
        table = re.search(r"\\begin\{(tabular\*?)\}", text)
        if not table or kind != "table":
            return self.fault(f"the web edition does not support a {kind} without a tabular", at)
        end = _end_of_environment(text, table[1], table.end())
        self.read(text[: table.start()] + text[end + len(f"\\end{{{table[1]}}}") :], at)
        body = self.tabular(text[table.end() : end], at + table.end(), head)
        return f'<div class="scroll typeset" tabindex="0" role="region" id="{escape("".join(labels[:1]))}">{body}</div>'

    def tabular(self, text: str, at: int, caption: str) -> str:
        """Return the HTML of a table in the chapter; the rows above the first inner rule are its header."""
        columns, _, place = argument(text, 0)
        sides = [{"l": "left", "r": "right"}.get(each, "center") for each in re.findall("[lcr]", columns)]
        rows: list[tuple[bool, list[str]]] = []
        parts = re.split(r"(?<!\\)\\\\(?:\[[^\]]{0,40}\])?", text[place:])
        ruled = "\\midrule" in text
        for part in parts:
            head = ruled and not any("\\midrule" in each for each in parts[: len(rows) + 1])
            offsets = [-1, *(match.start() for match in re.finditer(r"(?<!\\)&", part)), len(part)]
            ends = pairwise(offsets)
            cells = [self.read(part[begin + 1 : end], at + place + begin + 1).strip() for begin, end in ends]
            place += len(part) + 2
            if any(cells):
                rows.append((head, cells))
        html_rows = []
        for head, cells in rows:
            opened = ['th scope="col"' if head else "td" if place else 'th scope="row"' for place in range(len(cells))]
            inner = "".join(
                f'<{tag} class="{side}">{cell}</{tag[:2]}>'
                for tag, side, cell in zip(opened, sides, cells, strict=False)
            )
            html_rows.append((head, f"<tr>{inner}</tr>"))
        heads = "".join(row for head, row in html_rows if head)
        body = "".join(row for head, row in html_rows if not head)
        titled = f"<caption>{caption}</caption>" if caption else ""
        return f'<table class="exhibit">{titled}<thead>{heads}</thead><tbody>{body}</tbody></table>'

    def formula(self, tex: str, at: int, *, block: bool = False) -> str:
        """Return a formula as MathML, or a single sign and raised or lowered digits as characters."""
        if (sign := "+" if tex == "+" else _SPELT.get(f"${tex.strip()}$")) and not block:
            return sign
        if script := _SCRIPT.fullmatch(tex):
            tag = "sup" if script[1] == "^" else "sub"
            return f"<{tag}>{script[2].replace('-', '−')}</{tag}>"
        numbers = [match.groups() for match in _BOUND.finditer(tex)]
        tex = _BOUND.sub(r"{\3}", tex)
        try:
            convert_formula(tex)
            html = mathml(tex, block=block)
        except MarkupFault as error:
            return self.fault(f"a formula {error}", at)
        except Exception as error:  # latex2mathml has no error class
            return self.fault(f"the formula ${tex}$ cannot be typeset ({error})", at)
        links = [self.bound(name, to, latex, html) for name, to, latex in numbers]
        if not all(links):
            return self.fault(f"the formula ${tex}$ prints a value that its template did not read from an artifact", at)
        return links[0] if links else html


HEADINGS = {"chapter": 1, "chapter*": 1, "section": 2, "section*": 2, "subsection": 3, "subsection*": 3} | {
    "paragraph": 4, "paragraph*": 4,
}  # fmt: skip


def _end_of_environment(text: str, kind: str, place: int) -> int:
    """Return the end of the environment whose content begins at `place`; -1 if it is not closed."""
    depth = 1
    for match in re.compile(rf"\\(begin|end)\{{{re.escape(kind)}\}}").finditer(text, place):
        depth += 1 if match[1] == "begin" else -1
        if not depth:
            return match.start()
    return -1


def _inside(text: str, place: int) -> bool:
    """Return whether an offset is inside an environment of the text."""
    return len(re.findall(r"\\begin\{", text[:place])) > len(re.findall(r"\\end\{", text[:place]))
