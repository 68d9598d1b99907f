"""Convert the formulas of a bibliography to TeX that both pdflatex and the site can typeset."""

import re
import unicodedata

from boundpaper.paper.bibliography.signs import MarkupFault, describe
from boundpaper.typeset.characters import FORMULA, MATH, SCRIPTS

_KNOWN = FORMULA | set(
    """
    varphi vartheta mathop mathord mathscr mathfrak mathsfit bm boldsymbol ensuremath hbox mbox textup textsf textbf
    texttt rightarrow leftarrow longrightarrow Longrightarrow acute grave check breve ddot mathring overrightarrow
    dagger ddagger degree hbar sum prod coprod oint aleph Re Im wp imath jmath angle triangle square Box lesssim gtrsim
    ll gg leqslant geqslant sqcup sqcap cup cap times div cdot colon vert Vert backslash diamond circ bigcirc ast
    dagger amalg pm mp thinspace tanh sinh cosh cot sec csc deg gcd hom ker limsup liminf bmod pmod mod beta Alpha
    nonumber displaystyle textstyle scriptstyle rangle lbrace rbrace surd upsilon omicron varsigma varepsilon nolimits
    ddots vdots not in ni notin subset
    """.split()
)
_OLD_FONT = re.compile(r"\{\s*\\(rm|it|bf|cal|tt|sf)(?![A-Za-z])\s*+([^{}]*+)\}")
_OLD_STYLE = re.compile(r"\\(?:rm|it|bf|cal|tt|sf|em|sl|sc)(?![A-Za-z])\s*")


def convert_formula(tex: str) -> str:
    """Return a formula in which TeX commands replace outdated font commands and characters outside ASCII.

    Raises MarkupFault when pdflatex or the site cannot typeset it.
    """
    tex = tex.strip()
    while _OLD_FONT.search(tex):
        tex = _OLD_FONT.sub(lambda match: rf"{{\math{match[1]}{{{match[2]}}}}}", tex)
    tex = re.sub(r"(?<!\\)[%#&]", lambda match: "\\" + match[0], tex)
    tex = re.sub(r"\\ensuremath\s*\{", "{", tex)
    if tex[:1].isdigit() and re.search(r"(?<![A-Za-z])[A-Za-z]{2,}+ ?$", re.sub(r"\\[A-Za-z]+", "", tex)):
        raise MarkupFault(f"has the formula ${tex}$; write \\$ for a dollar sign")
    if _OLD_STYLE.search(tex):
        raise MarkupFault(f"has the formula ${tex}$ with an outdated font command; write \\mathrm{{...}} or similar")
    for name in re.findall(r"\\([A-Za-z]+)", tex):
        if name not in _KNOWN:
            raise MarkupFault(f"has the formula ${tex}$ with \\{name}, which the PDF or the site does not support")
    characters = []
    for char in unicodedata.normalize("NFC", tex):
        if char.isascii():
            characters.append(char)
        elif char in MATH:
            characters.append(MATH[char] + " " if MATH[char][0] == "\\" else MATH[char])
        elif char in SCRIPTS:
            characters.append(f"{'_' if '₀' <= char <= '₋' else '^'}{{{SCRIPTS[char]}}}")
        elif unicodedata.category(char) == "Zs":
            characters.append(" ")
        else:
            raise MarkupFault(f"has the formula ${tex}$ with {describe(char)}; write it as a TeX command")
    return "".join(characters)
