"""Text in each format: no data act as markup, and numbers in prose are typeset uniformly."""

import html as html_module
import re
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.characters import LATEX, T1_LETTERS
from boundpaper.typeset.plural import counted
from boundpaper.typeset.text import citations, escape, numerals, prose, without_citations

SETTABLE = st.text(
    st.sampled_from([*map(chr, range(32, 127)), *sorted(T1_LETTERS), *sorted(LATEX), *"⁰⁹⁻₀₉"]), max_size=40
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\ { } $ & # ^ _ ~ %", r"\textbackslash{} \{ \} \$ \& \# \textasciicircum{} \_ \textasciitilde{} \%"),
        ('< > | " `', r"\textless{} \textgreater{} \textbar{} \textquotedbl{} \textasciigrave{}"),
        ("10⁻⁴⁸ and x₀", "10$^{-48}$ and x$_{0}$"),
        ("−39% ≥ 2×", r"$-$39\% $\geq$ 2$\times$"),
        ("40–60%, 5 & %", r"40--60\%, 5 \& \%"),
        ("Δp of α → β", r"$\Delta$p of $\alpha$ $\rightarrow$ $\beta$"),
        ("0–8K… — “q”", r"0--8K\dots{} --- ``q''"),
        ("a--b ''c'' ,,d", "a-{}-b '{}'c'{}' ,{},d"),
        ("[x] *y", "{[}x{]} {*}y"),
        ("naïve é", "naïve é"),
        ("e\u0301", "é"),
        ("two\nlines\tand", "two lines and"),
    ],
)
def test_latex_escapes_exactly(text: str, expected: str) -> None:
    assert escape(text, "latex") == expected


def test_a_character_that_pdflatex_lacks_is_named() -> None:
    with pytest.raises(DataError, match=r"U\+6F22, CJK UNIFIED IDEOGRAPH-6F22"):
        escape("a 漢", "latex")


@pytest.mark.parametrize("format", ["latex", "markdown", "html"])
def test_control_characters_are_refused(format: str) -> None:
    with pytest.raises(DataError, match=r"U\+0007"):
        escape("bell\x07", format)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(SpecError, match="docx"):
        escape("a", "docx")
    with pytest.raises(SpecError, match="docx"):
        prose("a", "docx")


@given(SETTABLE)
def test_no_raw_special_survives_in_latex(text: str) -> None:
    latex = escape(text, "latex")
    assert latex.isascii() or not (set(latex) - set(map(chr, range(128))) - T1_LETTERS)
    without_known = re.sub(r"\\(?:[a-zA-Z]+|[{}$&#_%,\-])", "", latex)
    assert not set(without_known) & set("\\&#%")
    assert without_known.count("{") == without_known.count("}")
    assert without_known.count("$") % 2 == 0
    outside = "".join(without_known.split("$")[::2])
    assert not set(outside) & set('_^<>|"')
    assert not re.search(r"--(?=-)|''(?=')|,,", re.sub("---|``|''", "", outside.replace("{}", " ")))


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Co", "Cn"]), max_size=40))
def test_escaped_html_reads_back(text: str) -> None:
    html = escape(text, "html")
    assert html_module.unescape(html) == unicodedata.normalize("NFC", text)
    assert not set(html) & set("<>\"'")


@given(st.text(st.sampled_from([*map(chr, range(32, 127))]), max_size=40))
def test_escaped_markdown_reads_back(text: str) -> None:
    markdown = escape(text, "markdown")
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown) == text
    assert not re.search(r"(?<!\\)(?:\\\\)*[|*_`$<\[]", re.sub(r"\\\\", "", markdown))


@pytest.mark.parametrize(("text", "expected"), [("1. a", r"1\. a"), ("- a", r"\- a"), ("-5", "-5"), ("1.5", "1.5")])
def test_markdown_starts_no_list(text: str, expected: str) -> None:
    assert escape(text, "markdown") == expected


PROSE = r"A *slow $\alpha_k$* drop of 5% [@a2020; @b-1], see [@c, Table 2]; 2\$ \* x"


def test_prose_is_rendered_in_each_format() -> None:
    assert prose(PROSE, "latex") == (
        r"A \emph{slow $\alpha_k$} drop of 5\% \citep{a2020,b-1}, see \citep[{Table 2}]{c}; 2\$ {*} x"
    )
    assert prose(PROSE, "markdown") == r"A *slow $\alpha_k$* drop of 5% [@a2020; @b-1], see [@c, Table 2]; 2\$ \* x"
    assert prose(PROSE, "html") == (
        r'A <em>slow <span class="math">\(\alpha_k\)</span></em> drop of 5% <span class="citation">[a2020; b-1]'
        r'</span>, see <span class="citation">[c, Table 2]</span>; 2$ * x'
    )


def test_math_keeps_its_markup_and_translates_unicode() -> None:
    assert prose("$a<b * c$ $α−1≤x$", "latex") == r"$a<b * c$ $\alpha -1\leq x$"
    assert prose("$a<b$", "html") == '<span class="math">\\(a&lt;b\\)</span>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("costs 5$", 'unbalanced "\\$".*costs 5'), ("a *b", r'unbalanced "\*".*a \*b'), ("a ** b", "unbalanced"),
        ("*a $b* c$", "unbalanced"), ("$x_{1$", "braces"), ("$x}{$", "braces"), ("$50%$", "bare %"),
        ("$漢$", "TeX command"), ("see [@a", "not closed"), ("see [@a b]", "malformed"),
        ("see [@a; @b, Table 2]", "cites several works"), ("漢", "cannot set"),
    ],
)  # fmt: skip
def test_malformed_prose_is_refused_with_its_fault(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        prose(text, "latex")


def test_citations_are_found_once_and_removed() -> None:
    assert citations("a [@x; @y] *b [@x]* [@z, p. 3]") == ("x", "y", "z")
    assert without_citations("a [@x; @y], b [@z].") == "a, b."


@given(SETTABLE)
def test_escaped_prose_is_the_escaped_text(text: str) -> None:
    literal = re.sub(r"([\\$*\[@])", r"\\\1", text)
    assert prose(literal, "html") == escape(numerals(text), "html")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def test_html_prose_opens_only_known_tags() -> None:
    parser = _Tags()
    parser.feed(prose("<script> *a* [@k] $x<y$", "html"))
    assert parser.tags == ["em", "span", "span"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("-3 to -0.5", "−3 to −0.5"),
        ("(-2 to 67)", "(−2 to 67)"),
        ("2-30 and 30-80 %", "2–30 and 30–80%"),
        ("97\u202f%", "97%"),
        ("60K-100K, 512-2048", "60K–100K, 512–2048"),
        ("8192 tokens; 32768 tokens; 7157.0; 500000", "8,192 tokens; 32,768 tokens; 7157.0; 500000"),
        ("2.1e-48, 3e+05", "2.1 × 10⁻⁴⁸, 3 × 10⁵"),
        ("1,815.79", "1,815.79"),
        # unchanged names: models, dates, versions, files, years, and answers of a model
        (
            "Llama-3.2-11B, 2026-01-31, 3B-class, n-1, 5.23.0-rc1",
            "Llama-3.2-11B, 2026-01-31, 3B-class, n-1, 5.23.0-rc1",
        ),
        ("261758 for 2617558 in 2024", "261758 for 2617558 in 2024"),
        ("runs/1234/a-5.csv", "runs/1234/a-5.csv"),
    ],
)
def test_numbers_in_prose_get_uniform_signs(written: str, shown: str) -> None:
    assert numerals(written) == shown
    assert numerals(shown) == shown
    assert prose(written, "html") == escape(shown, "html")


@pytest.mark.parametrize("text", ["Food, after @engel1857.", "@engel1857", "(@engel1857, Table 2)", "*@engel1857*"])
def test_a_key_without_its_brackets_is_refused(text):
    with pytest.raises(SpecError, match=r"'@engel1857' in .* is not a citation: write \[@engel1857\], or .@ for"):
        prose(text, "latex")


def test_a_count_has_its_noun():
    assert [counted(number, "fault") for number in (0, 1, 1200)] == ["0 faults", "1 fault", "1,200 faults"]


@pytest.mark.parametrize("text", ["to a@garden.example", "recall@k", "recall @10", r"the \@handle", "cite [@a; @b]"])
def test_at_sign_that_is_no_citation_is_accepted(text):
    assert prose(text, "html")
