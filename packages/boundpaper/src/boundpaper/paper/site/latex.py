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
_COMMAND_TEXTS = {latex.removesuffix("{}"): char for char, latex in LATEX.items() if latex[0] in "\\$"} | {
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


def argument(text: str, offset: int) -> tuple[str, int, int]:
    """Return the content of the argument that begins at a position, and the positions of the content and of the end."""
    while text[offset : offset + 1].isspace():
        offset += 1
    if text[offset : offset + 1] != "{":
        return text[offset : offset + 1], offset, offset + 1
    depth, position = 0, offset
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
        if not depth:
            break
    return text[offset + 1 : position - 1], offset + 1, position


class ChapterReader:
    """A converter of one chapter to HTML.

    In methods, `text` is the part of the chapter that begins at `offset`; a `position` is within this part.

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

    def fault(self, fault: str, offset: int) -> str:
        """Record a fault at an offset of the chapter, and return an empty text as HTML."""
        line = self.text.count("\n", 0, offset) + 1
        self.faults.append(f"out/chapters/{self.name}.tex:{line}: {fault}")
        return ""

    def read(self, text: str, offset: int, *, flow: bool = False) -> str:
        """Return a part of the chapter as HTML: as paragraphs and blocks if `flow`, else as the content of one line."""
        blocks: list[str] = []
        parts: list[str] = []

        def close() -> None:
            if line := "".join(parts).strip():
                blocks.append(f"<p>{line}</p>" if flow else line)
            parts.clear()

        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self.fault(f"{text[position : position + 20]!r} is not closed", offset + position)
                break
            begin, position, kind = position, match.end(), match.lastgroup
            if kind == "par":
                close() if flow else parts.append(" ")
            elif kind == "math":
                parts.append(self.formula(match["math"], offset + begin))
            elif kind == "group":
                content, start, position = argument(text, begin)
                parts.append(self.read(content, offset + start))
            elif kind == "text":
                parts.append(_CHARACTERS.get(match[0], escape(match[0], quote=False)))
            elif kind == "break":
                parts.append("<br>")
            elif kind == "sign":
                if match[0] not in _COMMAND_TEXTS:
                    self.fault(f"the web edition does not support {match[0]}", offset + begin)
                parts.append(escape(_COMMAND_TEXTS.get(match[0], "")))
            elif kind == "command" and match["command"] in ("begin", "item", "par", *HEADINGS, "input"):
                block, position = self.block(match["command"], text, begin, position, offset)
                if match["command"] == "begin" and "equation" in text[begin : begin + 17]:
                    parts.append(block)
                else:
                    close()
                    blocks.append(block)
            elif kind == "command":
                html, position = self.command(match["command"], text, begin, position, offset)
                parts.append(html)
        close()
        return "\n".join(blocks) if flow else " ".join(blocks)

    def arguments(self, count: int, text: str, position: int, offset: int) -> tuple[list[str], list[str], int]:
        """Return the next arguments of a command as LaTeX and as HTML, and the position of their end."""
        latex, html = [], []
        for _ in range(count):
            content, start, position = argument(text, position)
            latex.append(content)
            html.append(self.read(content, offset + start))
        return latex, html, position

    def command(self, name: str, text: str, begin: int, position: int, offset: int) -> tuple[str, int]:
        """Return the HTML of a command within a line, and the position of its end."""
        option = ""
        if text[position : position + 1] == "[" and name not in LAYOUT and "\\" + name not in _COMMAND_TEXTS:
            end = text.index("]", position)
            option, position = self.read(text[position + 1 : end].strip("{}"), offset + position + 1), end + 1
        if name in ("numberof", "verdictof"):
            (target, value), (_, html), position = self.arguments(2, text, position, offset)
            fault = f"\\{name}{{{target}}} prints {value!r}, which its template did not read from an artifact"
            return self.bound(name, target, value, html) or self.fault(fault, offset + begin), position
        if name in ("verdictmark", "verdictsign"):
            (*_, mark), position = self.plain_arguments(2 if name == "verdictmark" else 1, text, position)
            if mark not in SIGNS:
                return self.fault(f"\\{name} has the unknown verdict {mark!r}", offset + begin), position
            sign, verdict = SIGNS[mark]
            return f'<span class="mark v-{slug(verdict)}" role="img" aria-label="{verdict}">{sign}</span>', position
        if name == "supplement":
            (exhibit, _), (_, html), position = self.arguments(2, text, position, offset)
            return f'<a href="../{escape(exhibit)}.html">{html}</a>', position
        if name in TAGS:
            _, (html,), position = self.arguments(1, text, position, offset)
            return html.join(TAGS[name]), position
        if name in ("cref", "Cref", "ref", "eqref", "autoref"):
            (names,), position = self.plain_arguments(1, text, position)
            keys = [key.strip() for key in names.split(",")]
            if unknown := [key for key in keys if key not in self.labels]:
                fault = f"\\{name} names {unknown[0]!r}, a label that no chapter defines"
                return self.fault(fault, offset + begin), position
            return reference_links([self.labels[key] for key in keys], name), position
        if name in ("citep", "citet", "citealp", "citeauthor", "citeyear", "cite"):
            (cited,), position = self.plain_arguments(1, text, position)
            fault = f"\\{name}{{{cited}}} is not in the bibliography"
            return self.cite(name, cited, option) or self.fault(fault, offset + begin), position
        if name == "footnote":
            _, (note,), position = self.arguments(1, text, position, offset)
            self.notes.append(note)
            number = len(self.notes)
            tip = escape(words_of_html(note))
            return f'<sup><a class="note" href="#note-{number}" data-tip="{tip}">{number}</a></sup>', position
        if name in ("url", "href"):
            (address, *words), position = self.plain_arguments(1 if name == "url" else 2, text, position)
            html = self.read(words[0], offset + begin) if words else escape(address)
            return f'<a href="{escape(address)}">{html}</a>', position
        if name == "label":
            (label,), position = self.plain_arguments(1, text, position)
            return f'<span id="{escape(label)}"></span>', position
        if "\\" + name in _COMMAND_TEXTS:
            return _COMMAND_TEXTS["\\" + name], position
        if name in LAYOUT:
            return "", position
        if name in LAYOUT_WITH_ARGUMENT:
            return "", self.plain_arguments(1, text, position)[1]
        if name in self.macros:
            count, definition = self.macros[name]
            arguments, position = self.plain_arguments(count, text, position)
            expansion = re.sub(r"#(\d)", lambda match: arguments[int(match[1]) - 1], definition)
            return self.read(expansion, offset + begin), position
        return self.fault(f"the web edition does not support \\{name}", offset + begin), position

    def plain_arguments(self, count: int, text: str, position: int) -> tuple[list[str], int]:
        """Return the next arguments of a command as LaTeX, and the position of their end."""
        arguments = []
        for _ in range(count):
            content, _, position = argument(text, position)
            arguments.append(content)
        return arguments, position

    def block(self, name: str, text: str, begin: int, position: int, offset: int) -> tuple[str, int]:
        """Return the HTML of a heading, an exhibit or an environment, and the position of its end."""
        if name == "par":
            return "", position
        if name == "item":
            return self.fault("\\item outside a list", offset + begin), position
        if name == "input":
            (target,), position = self.plain_arguments(1, text, position)
            folder, _, file = target.partition("/")
            kind, stem = folder.removesuffix("s"), file.removesuffix(".float")
            if kind not in ("table", "figure"):
                return self.fault(f"\\input{{{target}}} is neither a table nor a figure", offset + begin), position
            return self.exhibit(kind, stem, self.numbers[offset + begin]), position
        if name != "begin":
            return self.heading(name, text, begin, position, offset)
        (kind,), position = self.plain_arguments(1, text, position)
        end = _end_of_environment(text, kind, position)
        if end < 0:
            return self.fault(f"\\begin{{{kind}}} is not closed", offset + begin), len(text)
        content, end_position = text[position:end], end + len(f"\\end{{{kind}}}")
        if kind in LISTS:
            return self.items(kind, content, offset + position), end_position
        if kind in ("equation", "equation*"):
            label = re.search(r"\\label\{([^{}]*)\}", content)
            identifier = f' id="{escape(label[1])}"' if label else ""
            number = self.numbers.get(offset + begin, "")
            tag = f'<span class="tag">({number})</span>' if number else ""
            # a wide equation scrolls, so it must take the focus
            attributes = f'tabindex="0" role="group" aria-label="{f"Equation {number}".strip()}"'
            formula = self.formula(re.sub(r"\\label\{([^{}]*)\}", "", content), offset + position, block=True)
            return f'<span class="equation"{identifier} {attributes}>{formula}{tag}</span>', end_position
        if kind in ("table", "figure"):
            return self.float_environment(kind, content, offset + position), end_position
        if kind.startswith("tabular"):
            return self.tabular(content, offset + position, ""), end_position
        if kind in BLOCKS:
            return BLOCKS[kind].format(kind, self.read(content, offset + position, flow=True)), end_position
        return self.fault(f"the web edition does not support the environment {kind!r}", offset + begin), end_position

    def heading(self, name: str, text: str, begin: int, position: int, offset: int) -> tuple[str, int]:
        """Return the HTML of a heading with its number, and with its first label as id."""
        if text[position : position + 1] == "[":
            position = text.index("]", position) + 1
        _, (title,), position = self.arguments(1, text, position, offset)
        level, ids = HEADINGS[name], []
        self.depth = level if level < 4 else self.depth
        html_level = min(level, self.depth + 1)  # a paragraph directly below a section must not skip a level
        while label := re.compile(r"\s*\\label\{([^{}]*)\}").match(text, position):
            ids.append(label[1])
            position = label.end()
        number = self.numbers.get(offset + begin, "")
        identifier, *other_ids = ids or [f"part-{len(self.heads) + 1}"]
        targets = "".join(f'<span id="{escape(label)}"></span>' for label in other_ids)
        html = f'<span class="no">{number}</span> {title}' if number else title
        if level > 1:
            self.heads.append((level, identifier, html))
        style = ' class="run-in"' if level > 3 else ""
        return f'<h{html_level}{style} id="{escape(identifier)}">{targets}{html}</h{html_level}>', position

    def items(self, kind: str, text: str, offset: int) -> str:
        """Return the HTML of a list."""
        starts = [match.start() for match in re.finditer(r"\\item\b", text) if not _inside(text, match.start())]
        if text[: starts[0] if starts else len(text)].strip():
            self.fault(f"text before the first \\item of {kind!r}", offset)
        items = []
        for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
            position, term = begin + len("\\item"), ""
            if term_match := re.compile(r"\s*\[((?:[^][{}]|\{[^{}]*\})*)\]").match(text, position):
                term, position = self.read(term_match[1], offset + term_match.start(1)), term_match.end()
            body = self.read(text[position:end], offset + position, flow=True)
            body = body.removeprefix("<p>").removesuffix("</p>") if body.count("<p>") == 1 else body
            items.append(f"<dt>{term}</dt><dd>{body}</dd>" if LISTS[kind] == "dl" else f"<li>{body}</li>")
        return f"<{LISTS[kind]}>{''.join(items)}</{LISTS[kind]}>"

    def float_environment(self, kind: str, text: str, offset: int) -> str:
        """Return the HTML of a table that is typed into the chapter, with its caption and number."""
        caption, labels = re.search(r"\\caption(?:\[[^\]]*\])?(?=\{)", text), re.findall(r"\\label\{([^{}]*)\}", text)
        head = ""
        if caption:
            content, start, end = argument(text, caption.end())
            number = f"{kind.capitalize()} {self.numbers[offset + caption.start()]}"
            head = f'<span class="no">{number}.</span> {self.read(content, offset + start)}'
            text = text[: caption.start()] + " " * (end - caption.start()) + text[end:]
        text = re.sub(r"\\label\{[^{}]*\}", lambda match: " " * len(match[0]), text)
        table = re.search(r"\\begin\{(tabular\*?)\}", text)
        if not table or kind != "table":
            return self.fault(f"the web edition does not support a {kind} without a tabular", offset)
        end = _end_of_environment(text, table[1], table.end())
        self.read(text[: table.start()] + text[end + len(f"\\end{{{table[1]}}}") :], offset)
        body = self.tabular(text[table.end() : end], offset + table.end(), head)
        return f'<div class="scroll typeset" tabindex="0" role="region" id="{escape("".join(labels[:1]))}">{body}</div>'

    def tabular(self, text: str, offset: int, caption: str) -> str:
        r"""Return the HTML of a `tabular`; the rows above its first `\midrule` are the header."""
        columns, _, position = argument(text, 0)
        alignments = [{"l": "left", "r": "right"}.get(letter, "center") for letter in re.findall("[lcr]", columns)]
        rows: dict[bool, list[str]] = {True: [], False: []}  # the rows of the header, and of the body
        lines = re.split(r"(?<!\\)\\\\(?:\[[^\]]{0,40}\])?", text[position:])
        has_rule = "\\midrule" in text
        for line in lines:
            row_count = len(rows[True]) + len(rows[False])
            in_header = has_rule and not any("\\midrule" in above for above in lines[: row_count + 1])
            offsets = [-1, *(match.start() for match in re.finditer(r"(?<!\\)&", line)), len(line)]
            extents = pairwise(offsets)
            cells = [self.read(line[begin + 1 : end], offset + position + begin + 1).strip() for begin, end in extents]
            position += len(line) + 2
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

    def formula(self, tex: str, offset: int, *, block: bool = False) -> str:
        """Return a formula as MathML, one sign as a character, and raised or lowered digits as `<sup>` or `<sub>`."""
        if (sign := "+" if tex == "+" else _COMMAND_TEXTS.get(f"${tex.strip()}$")) and not block:
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
            return self.fault(f"a formula {error}", offset)
        except Exception as error:  # latex2mathml has no error class
            return self.fault(f"the formula ${tex}$ cannot be typeset ({error})", offset)
        links = [self.bound(name, target, latex, html) for name, target, latex in values]
        if not all(links):
            fault = f"the formula ${tex}$ prints a value that its template did not read from an artifact"
            return self.fault(fault, offset)
        return links[0] if links else html


HEADINGS = {"chapter": 1, "chapter*": 1, "section": 2, "section*": 2, "subsection": 3, "subsection*": 3} | {
    "paragraph": 4, "paragraph*": 4,
}  # fmt: skip


def _end_of_environment(text: str, kind: str, position: int) -> int:
    """Return where an environment's content, which begins at `position`, ends; -1 if the environment is not closed."""
    depth = 1
    for match in re.compile(rf"\\(begin|end)\{{{re.escape(kind)}\}}").finditer(text, position):
        depth += 1 if match[1] == "begin" else -1
        if not depth:
            return match.start()
    return -1


def _inside(text: str, position: int) -> bool:
    """Return whether a position is inside an environment of the text."""
    return len(re.findall(r"\\begin\{", text[:position])) > len(re.findall(r"\\end\{", text[:position]))
