"""List the LaTeX that pdflatex needs for each character of text, and the commands that formulas may use."""

_NAMES = (
    *("alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)
_GREEK = dict(zip("αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _NAMES, strict=True))
# LaTeX commands of mathematical characters, for use between dollars.
MATH: dict[str, str] = {char: "\\" + name for char, name in _GREEK.items()} | {
    "−": "-", "×": r"\times", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "·": r"\cdot", "∙": r"\cdot", "∗": r"\ast",
    "≤": r"\leq", "≥": r"\geq", "≪": r"\ll", "≫": r"\gg", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv",
    "∼": r"\sim", "∝": r"\propto", "∞": r"\infty", "√": r"\surd", "✓": r"\surd", "✗": r"\times", "∑": r"\sum",
    "∏": r"\prod", "∂": r"\partial", "∇": r"\nabla", "∈": r"\in", "∉": r"\notin", "∩": r"\cap", "∪": r"\cup",
    "⊂": r"\subset", "⊆": r"\subseteq", "⊥": r"\perp", "∥": r"\parallel", "∘": r"\circ", "ℓ": r"\ell", "∀": r"\forall",
    "∃": r"\exists", "←": r"\leftarrow", "→": r"\rightarrow", "↔": r"\leftrightarrow", "↑": r"\uparrow",
    "↓": r"\downarrow", "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow", "⟨": r"\langle",
    "⟩": r"\rangle", "µ": r"\mu", "ϕ": r"\phi", "ϵ": r"\epsilon", "′": "'", "″": "''", "⋅": r"\cdot",
}  # fmt: skip
LATEX: dict[str, str] = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    # At the start of a table row, LaTeX would read a bare `[` or `*` as an argument of the `\\` before it.
    "[": "{[}", "]": "{]}", "*": "{*}",
    "–": "--", "—": "---", "…": r"\dots{}", "‘": "`", "’": "'", "“": "``", "”": "''", "„": r"\quotedblbase{}",
    "«": r"\guillemotleft{}", "»": r"\guillemotright{}", "\u2010": "-", "\u2011": r"\mbox{-}", "\u00ad": r"\-",
    "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,", "\u2007": r"\phantom{0}", "°": r"\textdegree{}",
    "•": r"\textbullet{}",
    "§": r"\S{}", "¶": r"\P{}", "©": r"\textcopyright{}", "®": r"\textregistered{}", "™": r"\texttrademark{}",
    "€": r"\texteuro{}", "£": r"\pounds{}", "†": r"\dag{}", "‡": r"\ddag{}", "½": r"$\frac{1}{2}$",
    "¼": r"$\frac{1}{4}$", "¾": r"$\frac{3}{4}$", "¡": r"\textexclamdown{}", "¿": r"\textquestiondown{}",
    "\n": " ", "\t": " ",
} | {char: f"${command}$" for char, command in MATH.items()}  # fmt: skip
T1_LETTERS = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿŸĂĄĆČĎĐĘĚĞĹĽŁŃŇŊŐŒŔŘŚŠŞŤŢŮŰŹŻŽİăąćčďđęěğĺľłńňŋőœŕřśšş"
    "ťţůűźżž"
)
SCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱ₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-ni0123456789+-", strict=True))
# Commands that formulas in prose may use: only symbols, accents and fonts.
FORMULA: frozenset[str] = frozenset(
    [command[1:] for command in MATH.values() if command[0] == "\\"]
    + [
        *("epsilon", "vartheta", "varrho", "varpi", "phi", "le", "ge", "ne", "lt", "gt", "to", "gets", "mapsto", "mid"),
        *("frac", "tfrac", "dfrac", "sqrt", "int", "binom", "min", "max", "log", "ln", "exp", "sin", "cos", "tan"),
        *("arg", "det", "dim", "sup", "inf", "lim", "Pr", "bar", "hat", "tilde", "dot", "vec", "overline", "underline"),
        *("widehat", "widetilde", "mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "mathbb", "text"),
        *("textrm", "textit", "operatorname", "left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "lvert"),
        *("rvert", "lVert", "rVert", "lfloor", "rfloor", "lceil", "rceil", "ldots", "cdots", "dots", "quad", "qquad"),
        *("star", "bullet", "oplus", "otimes", "odot", "wedge", "vee", "neg", "land", "lor", "setminus", "subseteq"),
        *("supset", "supseteq", "emptyset", "infty", "simeq", "cong", "asymp", "prec", "succ", "perp", "parallel"),
        *("langle", "rangle", "ell", "top", "bot", "prime", "mathbin", "mathrel", "limits", "nolimits"),
    ]
)
