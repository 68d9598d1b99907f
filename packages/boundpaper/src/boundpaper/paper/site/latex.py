r"""Convert the LaTeX of chapters to HTML.

Known commands are converted, or ignored if they only affect the layout of pages. Commands that the paper's preamble
defines are expanded. Any other command is a fault.
"""

import re
from collections.abc import Callable, Mapping
from html import escape
from itertools import pairwise

from boundpaper.paper.bibliography.formulas import convert_formula
from boundpaper.paper.bibliography.signs import MarkupFault
from boundpaper.paper.site.numbering import Label, reference_links
from boundpaper.paper.site.page import mathml, slug
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
TAGS = {
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
LAYOUT = frozenset(
    """
    small footnotesize normalsize centering noindent clearpage newpage cleardoublepage medskip smallskip bigskip
    raggedright sloppy toprule midrule bottomrule addlinespace hline pagebreak nopagebreak linebreak phantomsection
    allowbreak quad qquad ignorespaces
    """.split()
)
"""Commands without arguments that only affect the layout of pages."""
LAYOUT_WITH_ARGUMENT = frozenset(
    ("vspace", "vspace*", "hspace", "hspace*", "exhibit", "enlargethispage", "markboth", "thispagestyle")
)
"""Commands with an argument that only affect the layout; `exhibit` precedes the `input` of its table or figure."""
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
_DEFINITION = re.compile(r"\\(?:new|provide|renew)command\*?\{?\\([A-Za-z]+)\}?(?:\[(\d)\])?(?=\{)")


def definitions(preamble: str) -> dict[str, tuple[int, str]]:
    """Return the commands that a preamble defines, each with the number of its arguments and its definition."""
    matches = _DEFINITION.finditer(preamble)
    return {match[1]: (int(match[2] or 0), argument(preamble, match.end())[0]) for match in matches}


def argument(text: str, at: int) -> tuple[str, int, int]:
    """Return the content of the argument that begins at `at`, and the offsets of the content and of the end."""
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

    In methods, `text` is a part of the chapter that begins at the offset `at`; other offsets are within this part.

    Attributes
    ----------
    text : str
        The LaTeX of the chapter, from `out/chapters`.
    name : str
        The chapter's name.
    labels : mapping of str to Label
        The labels of all chapters.
    numbers : mapping of int to str
        Numbers of headings, formulas and floats by their offset in the text.
    macros : mapping
        Commands that the paper defines, as `definitions` returns them.
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
        self.depth = 1  # level of the last heading, except headings in a line
        self.notes: list[str] = []

    def html(self) -> str:
        """Return the chapter's HTML, with its notes at the end."""
        body = self.read(self.text, 0, flow=True)
        notes = "".join(f'<li id="note-{number}">{note}</li>' for number, note in enumerate(self.notes, 1))
        return body + (f'<section aria-label="Notes"><ol class="notes">{notes}</ol></section>' if notes else "")

    def fault(self, fault: str, at: int) -> str:
        """Record a fault at an offset of the chapter, and return an empty text as HTML."""
        line = self.text.count("\n", 0, at) + 1
        self.faults.append(f"out/chapters/{self.name}.tex:{line}: {fault}")
        return ""

    def read(self, text: str, at: int, *, flow: bool = False) -> str:
        """Return a part of the chapter as HTML: paragraphs and blocks if `flow`, else a line."""
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
                content, start, place = argument(text, begin)
                parts.append(self.read(content, at + start))
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
        latex, html = [], []
        for _ in range(count):
            content, start, place = argument(text, place)
            latex.append(content)
            html.append(self.read(content, at + start))
        return latex, html, place

    def command(self, name: str, text: str, begin: int, place: int, at: int) -> tuple[str, int]:
        """Return the HTML of a command within a line, and the offset of its end."""
        option = ""
        if text[place : place + 1] == "[" and name not in LAYOUT and "\\" + name not in _SPELT:
            end = text.index("]", place)
            option, place = self.read(text[place + 1 : end].strip("{}"), at + place + 1), end + 1
        if name in ("numberof", "verdictof"):
            (target, value), (_, html), place = self.arguments(2, text, place, at)
            fault = f"\\{name}{{{target}}} prints {value!r}, which its template did not read from an artifact"
            return self.bound(name, target, value, html) or self.fault(fault, at + begin), place
        if name in ("verdictmark", "verdictsign"):
            (*_, mark), place = self.plain_arguments(2 if name == "verdictmark" else 1, text, place)
            if mark not in SIGNS:
                return self.fault(f"\\{name} has the unknown verdict {mark!r}", at + begin), place
            sign, verdict = SIGNS[mark]
            return f'<span class="mark v-{slug(verdict)}" role="img" aria-label="{verdict}">{sign}</span>', place
        if name == "supplement":
            (exhibit, _), (_, html), place = self.arguments(2, text, place, at)
            return f'<a href="../{escape(exhibit)}.html">{html}</a>', place
        if name in TAGS:
            _, (html,), place = self.arguments(1, text, place, at)
            return html.join(TAGS[name]), place
        if name in ("cref", "Cref", "ref", "eqref", "autoref"):
            (names,), place = self.plain_arguments(1, text, place)
            keys = [key.strip() for key in names.split(",")]
            if unknown := [key for key in keys if key not in self.labels]:
                return self.fault(f"\\{name} names {unknown[0]!r}, a label that no chapter defines", at + begin), place
            return reference_links([self.labels[key] for key in keys], name), place
        if name in ("citep", "citet", "citealp", "citeauthor", "citeyear", "cite"):
            (cited,), place = self.plain_arguments(1, text, place)
            fault = f"\\{name}{{{cited}}} is not in the bibliography"
            return self.cite(name, cited, option) or self.fault(fault, at + begin), place
        if name == "footnote":
            _, (note,), place = self.arguments(1, text, place, at)
            self.notes.append(note)
            number = len(self.notes)
            tip = escape(words_of_html(note))
            return f'<sup><a class="note" href="#note-{number}" data-tip="{tip}">{number}</a></sup>', place
        if name in ("url", "href"):
            (address, *words), place = self.plain_arguments(1 if name == "url" else 2, text, place)
            html = self.read(words[0], at + begin) if words else escape(address)
            return f'<a href="{escape(address)}">{html}</a>', place
        if name == "label":
            (label,), place = self.plain_arguments(1, text, place)
            return f'<span id="{escape(label)}"></span>', place
        if "\\" + name in _SPELT:
            return _SPELT["\\" + name], place
        if name in LAYOUT:
            return "", place
        if name in LAYOUT_WITH_ARGUMENT:
            return "", self.plain_arguments(1, text, place)[1]
        if name in self.macros:
            count, definition = self.macros[name]
            arguments, place = self.plain_arguments(count, text, place)
            expansion = re.sub(r"#(\d)", lambda match: arguments[int(match[1]) - 1], definition)
            return self.read(expansion, at + begin), place
        return self.fault(f"the web edition does not support \\{name}", at + begin), place

    def plain_arguments(self, count: int, text: str, place: int) -> tuple[list[str], int]:
        """Return the next arguments of a command as LaTeX, and the offset of their end."""
        arguments = []
        for _ in range(count):
            content, _, place = argument(text, place)
            arguments.append(content)
        return arguments, place

    def block(self, name: str, text: str, begin: int, place: int, at: int) -> tuple[str, int]:
        """Return the HTML of a heading, an exhibit or an environment, and the offset of its end."""
        if name == "par":
            return "", place
        if name == "item":
            return self.fault("\\item outside a list", at + begin), place
        if name == "input":
            (target,), place = self.plain_arguments(1, text, place)
            folder, _, file = target.partition("/")
            kind, stem = folder.removesuffix("s"), file.removesuffix(".float")
            if kind not in ("table", "figure"):
                return self.fault(f"\\input{{{target}}} is neither a table nor a figure", at + begin), place
            return self.exhibit(kind, stem, self.numbers[at + begin]), place
        if name != "begin":
            return self.heading(name, text, begin, place, at)
        (kind,), place = self.plain_arguments(1, text, place)
        end = _end_of_environment(text, kind, place)
        if end < 0:
            return self.fault(f"\\begin{{{kind}}} is not closed", at + begin), len(text)
        content, after = text[place:end], end + len(f"\\end{{{kind}}}")
        if kind in LISTS:
            return self.items(kind, content, at + place), after
        if kind in ("equation", "equation*"):
            label = re.search(r"\\label\{([^{}]*)\}", content)
            identifier = f' id="{escape(label[1])}"' if label else ""
            number = self.numbers.get(at + begin, "")
            tag = f'<span class="tag">({number})</span>' if number else ""
            # a wide equation scrolls, so it must take the focus
            attributes = f'tabindex="0" role="group" aria-label="{f"Equation {number}".strip()}"'
            formula = self.formula(re.sub(r"\\label\{([^{}]*)\}", "", content), at + place, block=True)
            return f'<span class="equation"{identifier} {attributes}>{formula}{tag}</span>', after
        if kind in ("table", "figure"):
            return self.typed_float(kind, content, at + place), after
        if kind.startswith("tabular"):
            return self.tabular(content, at + place, ""), after
        if kind in BLOCKS:
            return BLOCKS[kind].format(kind, self.read(content, at + place, flow=True)), after
        return self.fault(f"the web edition does not support the environment {kind!r}", at + begin), after

    def heading(self, name: str, text: str, begin: int, place: int, at: int) -> tuple[str, int]:
        """Return the HTML of a heading with its number, and with its first label as id."""
        if text[place : place + 1] == "[":
            place = text.index("]", place) + 1
        _, (title,), place = self.arguments(1, text, place, at)
        level, ids = HEADINGS[name], []
        self.depth = level if level < 4 else self.depth
        html_level = min(level, self.depth + 1)  # a paragraph directly below a section must not skip a level
        while label := re.compile(r"\s*\\label\{([^{}]*)\}").match(text, place):
            ids.append(label[1])
            place = label.end()
        number = self.numbers.get(at + begin, "")
        identifier, *further = ids or [f"part-{len(self.heads) + 1}"]
        targets = "".join(f'<span id="{escape(label)}"></span>' for label in further)
        html = f'<span class="no">{number}</span> {title}' if number else title
        if level > 1:
            self.heads.append((level, identifier, html))
        style = ' class="run-in"' if level > 3 else ""
        return f'<h{html_level}{style} id="{escape(identifier)}">{targets}{html}</h{html_level}>', place

    def items(self, kind: str, text: str, at: int) -> str:
        """Return the HTML of a list; the items of nested lists stay in their lists."""
        starts = [match.start() for match in re.finditer(r"\\item\b", text) if not _inside(text, match.start())]
        if text[: starts[0] if starts else len(text)].strip():
            self.fault(f"text before the first \\item of {kind!r}", at)
        items = []
        for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
            place, term = begin + len("\\item"), ""
            if term_match := re.compile(r"\s*\[((?:[^][{}]|\{[^{}]*\})*)\]").match(text, place):
                term, place = self.read(term_match[1], at + term_match.start(1)), term_match.end()
            body = self.read(text[place:end], at + place, flow=True)
            body = body.removeprefix("<p>").removesuffix("</p>") if body.count("<p>") == 1 else body
            items.append(f"<dt>{term}</dt><dd>{body}</dd>" if LISTS[kind] == "dl" else f"<li>{body}</li>")
        return f"<{LISTS[kind]}>{''.join(items)}</{LISTS[kind]}>"

    def typed_float(self, kind: str, text: str, at: int) -> str:
        """Return the HTML of a table that is typed into the chapter, with its caption and number."""
        caption, labels = re.search(r"\\caption(?:\[[^\]]*\])?(?=\{)", text), re.findall(r"\\label\{([^{}]*)\}", text)
        head = ""
        if caption:
            content, start, end = argument(text, caption.end())
            number = f"{kind.capitalize()} {self.numbers[at + caption.start()]}"
            head = f'<span class="no">{number}.</span> {self.read(content, at + start)}'
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
        r"""Return the HTML of a `tabular`; the rows above its first `\midrule` are the header."""
        columns, _, place = argument(text, 0)
        alignments = [{"l": "left", "r": "right"}.get(letter, "center") for letter in re.findall("[lcr]", columns)]
        rows: dict[bool, list[str]] = {True: [], False: []}  # the rows of the header, and of the body
        lines = re.split(r"(?<!\\)\\\\(?:\[[^\]]{0,40}\])?", text[place:])
        has_rule = "\\midrule" in text
        for line in lines:
            row_count = len(rows[True]) + len(rows[False])
            in_header = has_rule and not any("\\midrule" in above for above in lines[: row_count + 1])
            offsets = [-1, *(match.start() for match in re.finditer(r"(?<!\\)&", line)), len(line)]
            extents = pairwise(offsets)
            cells = [self.read(line[begin + 1 : end], at + place + begin + 1).strip() for begin, end in extents]
            place += len(line) + 2
            if any(cells):
                tags = ['th scope="col"'] * len(cells) if in_header else ['th scope="row"', *["td"] * (len(cells) - 1)]
                row = (
                    f'<{tag} class="{alignment}">{cell}</{tag[:2]}>'
                    for tag, alignment, cell in zip(tags, alignments, cells, strict=False)
                )
                rows[in_header].append(f"<tr>{''.join(row)}</tr>")
        title = f"<caption>{caption}</caption>" if caption else ""
        head, body = ("".join(rows[in_header]) for in_header in (True, False))
        return f'<table class="exhibit">{title}<thead>{head}</thead><tbody>{body}</tbody></table>'

    def formula(self, tex: str, at: int, *, block: bool = False) -> str:
        """Return a formula as MathML, but a single sign, or raised or lowered digits, as characters."""
        if (sign := "+" if tex == "+" else _SPELT.get(f"${tex.strip()}$")) and not block:
            return sign
        if script := _SCRIPT.fullmatch(tex):
            tag = "sup" if script[1] == "^" else "sub"
            return f"<{tag}>{script[2].replace('-', '−')}</{tag}>"
        values = [match.groups() for match in _BOUND.finditer(tex)]
        tex = _BOUND.sub(r"{\3}", tex)
        try:
            convert_formula(tex)
            html = mathml(tex, block=block)
        except MarkupFault as error:
            return self.fault(f"a formula {error}", at)
        except Exception as error:  # latex2mathml has no error class
            return self.fault(f"the formula ${tex}$ cannot be typeset ({error})", at)
        links = [self.bound(name, target, latex, html) for name, target, latex in values]
        if not all(links):
            return self.fault(f"the formula ${tex}$ prints a value that its template did not read from an artifact", at)
        return links[0] if links else html


HEADINGS = {"chapter": 1, "chapter*": 1, "section": 2, "section*": 2, "subsection": 3, "subsection*": 3} | {
    "paragraph": 4, "paragraph*": 4,
}  # fmt: skip


def _end_of_environment(text: str, kind: str, place: int) -> int:
    """Return the end of the content of an environment, which begins at `place`; -1 if it is not closed."""
    depth = 1
    for match in re.compile(rf"\\(begin|end)\{{{re.escape(kind)}\}}").finditer(text, place):
        depth += 1 if match[1] == "begin" else -1
        if not depth:
            return match.start()
    return -1


def _inside(text: str, place: int) -> bool:
    """Return whether an offset is inside an environment of the text."""
    return len(re.findall(r"\\begin\{", text[:place])) > len(re.findall(r"\\end\{", text[:place]))
