"""List the commands and characters that bibliographies may use, with their counterparts in LaTeX and HTML."""

import codecs
import unicodedata
from functools import cache

import latexcodec  # noqa: F401 (registers the codec `latex`)

from boundpaper.typeset.characters import LATEX, MATH, SCRIPTS

STYLES = {  # commands with one argument, and the corresponding HTML tags
    "emph": "em", "textit": "em", "textsl": "em", "textbf": "b", "texttt": "code", "textsuperscript": "sup",
    "textsubscript": "sub", "textsc": "", "textrm": "", "textsf": "", "textup": "", "textnormal": "", "textmd": "",
    "mbox": "", "underline": "u", "uppercase": "", "MakeUppercase": "",
}  # fmt: skip
SWITCHES = {  # commands that change the font of all following text, and their counterparts in `STYLES`
    "it": "textit", "itshape": "textit", "em": "emph", "sl": "textsl", "slshape": "textsl", "bf": "textbf",
    "bfseries": "textbf", "tt": "texttt", "ttfamily": "texttt", "sc": "textsc", "scshape": "textsc", "rm": "textrm",
    "rmfamily": "textrm", "sf": "textsf", "sffamily": "textsf", "upshape": "textup", "normalfont": "textnormal",
}  # fmt: skip
STYLE_ALIASES = {  # commands with one argument that mean the same as a command of `STYLES`
    "mkbibemph": "emph", "mkbibitalic": "emph", "mkbibbold": "textbf", "mkbibsuperscript": "textsuperscript",
    "hbox": "mbox", "text": "textrm", "nocase": "textnormal", "textsuper": "textsuperscript",
}  # fmt: skip
LAYOUT_COMMANDS = {  # commands for the layout, and the text that they become
    "newblock": "", "relax": "", "protect": "", "allowbreak": "", "break": " ", "newline": " ", "urlprefix": "",
    "space": " ", "quad": " ", "null": "", "xspace": "", "nolinebreak": "", "linebreak": " ", "par": " ",
    "bibinitperiod": ".", "bibnamedelima": " ", "bibrangedash": "--", "sortopen": "", "noop": "",
    "hskip": " ", "leavevmode": "", "noindent": "", "ignorespaces": "", "unskip": "",
}  # fmt: skip
LOGOS = ("TeX", "LaTeX", "LaTeXe")
SIGNS = {
    "BibTeX": "BibTeX", "BibLaTeX": "BibLaTeX", "XeTeX": "XeTeX", "LuaTeX": "LuaTeX", "textquoteright": "’",
    "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”", "textquotesingle": "'", "lq": "‘",
    "rq": "’", "dots": "…", "ldots": "…", "textellipsis": "…", "textasciitilde": "~", "textasciicircum": "^",
    "textbackslash": "\\",
    "textasciiacute": "´", "slash": "/", "textunderscore": "_", "textbar": "|", "textless": "<", "textgreater": ">",
    "textquotedbl": '"', "texttimes": "×", "textpm": "±", "texteuro": "€", "euro": "€", "textcopyright": "©",
    "texttrademark": "™", "textbullet": "•", "textperiodcentered": "·", "textmu": "µ", "guillemotleft": "«",
    "guillemotright": "»", "quotedblbase": "„", "quotesinglbase": "‚", "textnumero": "№",
    "degree": "°", "textdegree": "°", "textordfeminine": "ª", "textordmasculine": "º",
    "hyphen": "-", "nobreakdash": "", "textnonbreakinghyphen": "-",
    "textcelsius": "°C", "textonehalf": "½", "cprime": "′", "textprime": "′", "aa": "å", "AA": "Å", "dj": "đ",
    "DJ": "Đ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "ng": "ŋ", "NG": "Ŋ", "i": "ı", "j": "ȷ", "dag": "†",
    "ddag": "‡", "lbrace": "{", "rbrace": "}", "textdollar": "$", "textregistered": "®", "textsection": "§",
    "textparagraph": "¶", "textsterling": "£", "pounds": "£", "copyright": "©", "S": "§", "P": "¶",
}  # fmt: skip
ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331", "t": "\u0361", "textcommabelow": "\u0326",
}  # fmt: skip
_ACCENT_OF = {character: name for name, character in ACCENTS.items()}
LONE_ACCENTS = {accent: accent for accent in "~^'`\""}  # accents that may occur without a letter
_LETTERS = {
    "ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "å": "aa",
    "Å": "AA", "ı": "i", "ȷ": "j", "đ": "dj", "Đ": "DJ", "ð": "dh", "Ð": "DH", "þ": "th", "Þ": "TH", "ŋ": "ng",
    "Ŋ": "NG",
}  # fmt: skip
_SPECIAL = {char: LATEX[char] for char in "\\{}$&#_%^~<>|"} | {"\u00a0": "~", "ʼ": "'", "‐": "-", "‑": "-", "‚": ","}
_SPECIAL |= {"ʹ": "{$'$}", "′": "{$'$}", "‒": "--", "―": "---", "\u00ad": r"\-", "ª": r"{\textordfeminine}"}
_SPECIAL |= {"´": r"{\textasciiacute}", "º": r"{\textordmasculine}", "·": r"{\textperiodcentered}"}
_SPECIAL |= {"²": "{$^{2}$}", "³": "{$^{3}$}"}
SPACES = {",": "\u2009", ";": "\u2009", ":": "\u2009", " ": " ", "!": "", "/": "", "-": "\u00ad", "\\": " ", "@": ""}


class MarkupFault(ValueError):
    """A part of a field that cannot be typeset; the message names the part and says how to correct it."""


@cache
def sign_of(name: str) -> str:
    """Return the characters that a command without arguments prints; empty if the command is unknown."""
    if name in SIGNS:
        return SIGNS[name]
    by_command = {command.lstrip("\\"): char for char, command in reversed(MATH.items()) if command[0] == "\\"}
    if name in by_command:
        return by_command[name]
    decoded = codecs.decode(f"\\{name}".encode(), "latex").strip()
    return "" if decoded.startswith("\\") else decoded


@cache
def latex_character(char: str) -> str:
    """Return one character as LaTeX; raise MarkupFault if pdflatex cannot typeset it."""
    if char in _SPECIAL:
        return _in_braces(_SPECIAL[char])
    if char.isascii():
        return char
    if char in _LETTERS:
        return f"{{\\{_LETTERS[char]}}}"
    decomposed = unicodedata.normalize("NFD", char)
    if len(decomposed) > 1 and decomposed[-1] in _ACCENT_OF:
        name, base = _ACCENT_OF[decomposed[-1]], latex_character(unicodedata.normalize("NFC", decomposed[:-1]))
        if base in ("i", "j") and name not in "'`^\"":
            base = f"{{\\{base}}}"
        return f"{{\\{name}{{{base}}}}}" if name.isalpha() else f"{{\\{name}{base}}}"
    if char in LATEX:
        return _in_braces(LATEX[char])
    if char in SCRIPTS:
        return f"{{${'_' if '₀' <= char <= '₋' else '^'}{{{SCRIPTS[char]}}}$}}"
    category = unicodedata.category(char)
    if category == "Cf":
        return ""  # a direction mark or a zero-width character
    if category == "Zs":
        return " "
    normalised = unicodedata.normalize("NFKC", char)
    if normalised != char:
        return "".join(map(latex_character, normalised))
    raise MarkupFault(f"contains {describe(char)}, which pdflatex cannot set; write it in Latin letters or as LaTeX")


def _in_braces(latex: str) -> str:
    """Return a command in braces, so that BibTeX keeps its capitals and TeX keeps the blank after it."""
    if len(latex) > 2 and latex[0] in "\\$":
        return "{" + latex.removesuffix("{}") + "}"
    return latex


def describe(char: str) -> str:
    """Return a character in quotes, with its code point and its Unicode name."""
    return f"{char!r} (U+{ord(char):04X}, {unicodedata.name(char, 'without a name')})"
