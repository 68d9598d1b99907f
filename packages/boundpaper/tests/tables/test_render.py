"""A table in every format, compared exactly; and aligned decimals for all contents of a column."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundpaper.errors import DataError, SpecError
from boundpaper.tables import Column, Table, integer, markup
from boundpaper.tables.align import Pieces, align_column, interval_pieces, missing_pieces, number_pieces, spread_pieces
from boundpaper.tables.read import read
from boundpaper.tables.render import render
from boundpaper.tables.screen import terminal_table
from boundpaper.tables.width import LINE, fit_table
from boundpaper.typeset.glyphs import glyphs
from boundpaper.typeset.numbers import Number, fixed, percent, pvalue, scientific, signed, significant, uncertain

ROWS = pd.DataFrame(
    {
        "family": ["Llama_3", "Llama_3", "Qwen"],
        "model": ["[A] 1B", "B & C", "*D"],
        "lbp": [45.25, None, -3.0],
        "lo": [40.0, None, -4.0],
        "hi": [50.0, None, 8.0],
        "p": [0.004, None, 0.2],
        "mark": ["ck", "", "ck,win"],
        "why": ["", "not run", ""],
        "tokens": [131072, 8192, 256],
    }
)
SPEC = Table(
    rows=ROWS,
    columns=[
        Column("model", "Model", mark="mark"),
        Column("lbp", "LBP", fixed(1), ci=("lo", "hi"), p="p", reason="why", best="max", group="Score, $n = 3$"),
        Column("tokens", "Window", integer(), unit="tokens", title_mark="win", group="Score, $n = 3$"),
    ],
    caption="Scores & *windows* [@a2020]. With 5% more.",
    note="A note.",
    marks={"ck": "another checkpoint", "win": "per window, $n = 2$", "unused": "never shown"},
    groups="family",
)

LATEX = r"""% Table scores: made from table:scores by boundpaper/tables/templates/table.tex.j2; do not edit.
% Packages: booktabs, array, natbib.
\begin{table}[tbp]
\centering
\sbox8{\small\setlength{\tabcolsep}{6pt}%
\begin{tabular*}{250pt}{@{\extracolsep{\fill}}lrr@{}}
\toprule
 & \multicolumn{2}{c}{Score, $n = 3$} \\
\cmidrule(lr){2-3}
 &  & Window \\
Model & \multicolumn{1}{c}{LBP} & (tokens)\textsuperscript{a} \\
\midrule
\multicolumn{3}{@{}l@{}}{\emph{Llama\_3}} \\
\quad {[}A{]} 1B\textsuperscript{b} & 45.3~[40.0, 50.0]\rlap{\textsuperscript{${*}{*}$}}\phantom{$-$} & 131,072 \\
\quad B \& C & --\phantom{.0}\phantom{~[$-$..000000, ]} & 8,192 \\
\addlinespace
\multicolumn{3}{@{}l@{}}{\emph{Qwen}} \\
\quad {*}D\textsuperscript{b,a} & $-$3.0~[$-$4.0, 8.0]\phantom{00} & 256 \\
\bottomrule
\end{tabular*}}% caption and notes are as wide
\begin{minipage}{\wd8}
\caption[{Scores \& \emph{windows}}]{Scores \& \emph{windows} \citep{a2020}. With 5\% more.}
\label{tab:scores}
\usebox8
\par\smallskip\footnotesize
A note.\par
-- not run.\par
\textsuperscript{a}\,Per window, $n = 2$.\par
\textsuperscript{b}\,Another checkpoint.\par
{*} $p < 0.05$; {*}{*} $p < 0.01$; {*}{*}{*} $p < 0.001$.\par
\end{minipage}
\end{table}
"""

CSV = """family,model,model_marks,lbp,lbp_low,lbp_high,lbp_p,lbp_reason,tokens
Llama_3,[A] 1B,ck,45.25,40.0,50.0,0.004,,131072
Llama_3,B & C,,,,,,not run,8192
Qwen,*D,"ck,win",-3.0,-4.0,8.0,0.2,,256
"""


def test_latex_output_matches_exactly() -> None:
    assert render(SPEC, "scores") == LATEX


def test_csv_output_matches_exactly() -> None:
    assert render(SPEC, "scores", "csv") == CSV
    assert len(list(csv.reader(io.StringIO(render(SPEC, "scores", "csv"))))) == 4


def test_markdown_output_matches_exactly() -> None:
    markdown = render(SPEC, "scores", "markdown").replace("\u2007", "_").replace("\u2008", "^").replace("\u00a0", "~")
    assert markdown.splitlines() == [
        "<!-- Table scores: made from table:scores; do not edit. -->", "",
        r"**Table scores.** Scores \& *windows* [@a2020]. With 5% more.", "",
        r"| Model                |      Score, $n = 3$: LBP | Score, $n = 3$: Window (tokens)<sup>a</sup> |",
        r"| -------------------- | -----------------------: | ------------------------------------------: |",
        r"| *Llama\_3*           |                          |                                             |",
        r"| \[A\] 1B<sup>b</sup> | 45.3~\[40.0, 50.0\]_\*\* |                                     131,072 |",
        r"| B \& C               |         –^_~^_^^______^^ |                                       8,192 |",
        r"| *Qwen*               |                          |                                             |",
        r"| \*D<sup>b,a</sup>    |     −3.0~\[−4.0, 8.0\]__ |                                         256 |", "",
        "A note.  ", "– not run.  ", "<sup>a</sup> Per window, $n = 2$.  ", "<sup>b</sup> Another checkpoint.  ",
        r"\* $p < 0.05$; \*\* $p < 0.01$; \*\*\* $p < 0.001$.",
    ]  # fmt: skip


class _Structure(HTMLParser):
    """Checks that tags nest, and collects what screen readers need."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scopes: list[str] = []
        self.widths: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            return
        attributes = dict(attrs)
        if tag == "tr":
            self.widths.append(0)
        if tag in ("td", "th"):
            self.widths[-1] += int(attributes.get("colspan") or 1)
        if "scope" in attributes:
            self.scopes.append(str(attributes["scope"]))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_semantic() -> None:
    html = render(SPEC, "scores", "html")
    structure = _Structure()
    structure.feed(html)
    assert structure.open == []
    assert set(structure.widths) == {3}
    assert structure.scopes == ["colgroup", "col", "col", "col", "rowgroup", "row", "row", "rowgroup", "row"]
    assert '<table id="tab-scores" class="exhibit">' in html
    assert (
        '<caption>Scores &amp; <em>windows</em> <span class="citation">[a2020]</span>. With 5% more.</caption>' in html
    )
    assert '<th scope="row" class="left">B &amp; C</th>' in html
    assert '<td class="right">−3.0' in html
    assert '<th scope="col" class="right">Window<br>(tokens)<sup>a</sup></th>' in html
    assert "<p>– not run.</p>" in html


def test_json_output_holds_unformatted_numbers() -> None:
    content = json.loads(render(SPEC, "scores", "json"))
    assert content["rows"][0]["lbp"] == {"value": 45.25, "low": 40.0, "high": 50.0, "p": 0.004}
    assert content["rows"][1]["lbp"] == {"value": None, "reason": "not run"}
    assert content["rows"][2]["model"] == {"value": "*D", "marks": ["ck", "win"]}
    assert content["groups"] == ["Llama_3", "Llama_3", "Qwen"]
    assert content["marks"] == {"ck": "another checkpoint", "win": "per window, $n = 2$"}
    assert [column["unit"] for column in content["columns"]] == [None, None, "tokens"]


def test_single_missing_reason_is_printed_once_and_several_get_letters() -> None:
    rows = ROWS.assign(lbp=[float("nan"), float("nan"), 1.0], why=["not run", "too long", ""])
    columns = [Column("model", "Model"), Column("lbp", "LBP", fixed(1), reason="why")]
    latex = render(Table(rows=rows, columns=columns, caption="x"), "t")
    assert r"--\rlap{\textsuperscript{a}}\phantom{.0}\phantom{\textsuperscript{a}}" in latex
    assert "\\textsuperscript{a}\\,Not run.\\par\n\\textsuperscript{b}\\,Too long.\\par" in latex


def test_rules_spaces_and_repeated_labels_are_rendered() -> None:
    rows = pd.DataFrame({"a": list("xxyyyyyyy"), "n": range(9), "below": [False] * 7 + [True, False]})
    columns = [Column("a", "A", repeat=False), Column("n", "N")]
    spec = Table(rows=rows, columns=columns, caption="x", rule_before="below")
    body = render(spec, "t").split("\\midrule\n", 1)[1].split("\\bottomrule")[0].splitlines()
    assert body == [
        "x & 0 \\\\", " & 1 \\\\", "\\addlinespace", "y & 2 \\\\", " & 3 \\\\", " & 4 \\\\", " & 5 \\\\", " & 6 \\\\",
        "\\midrule", " & 7 \\\\", " & 8 \\\\",
    ]  # fmt: skip
    ruled = render(Table(rows=rows, columns=columns, caption="x", groups="a", group_style="rule", space=0), "t")
    assert ruled.count("\\midrule") == 2
    assert "\\addlinespace" not in ruled
    assert "\\quad" not in ruled
    assert render(spec, "t", "csv").splitlines()[2] == "x,1"
    assert "|     |     |" in render(spec, "t", "markdown")


def test_paragraph_cells_are_indented_where_no_space_separates_rows() -> None:
    """Without space between rows, continuation lines are indented; below group names, all lines are indented."""
    rows = pd.DataFrame({"k": ["long words", "more"], "n": [1, 2], "g": ["a", "b"]})
    columns = [Column("k", "K", width="20mm"), Column("n", "N")]
    hang, group = r"\hangindent=1em\hangafter=1", r"\leftskip=1em"
    assert hang not in render(Table(rows=rows, columns=columns, caption="x"), "t")
    close = render(Table(rows=rows, columns=columns, caption="x", space=0), "t")
    assert hang + "\\arraybackslash}p{" in close
    assert group not in close
    grouped = render(Table(rows=rows, columns=columns, caption="x", space=0, groups="g"), "t")
    assert group + hang + "\\arraybackslash}p{" in grouped


def test_digits_can_be_given_per_row() -> None:
    rows = pd.DataFrame({"k": ["a", "b"], "v": [1.25, 30.0], "lo": [1.0, 20.5], "hi": [2.0, 40.5], "d": [2, 0]})
    column = Column("v", "V", fixed(1), digits="d", ci=("lo", "hi"))
    markdown = render(Table(rows=rows, columns=[Column("k", "K"), column], caption="x"), "t", "markdown")
    bare = re.sub(r"[^\w.,\[]+", " ", markdown)
    assert "1.25 [1.00, 2.00" in bare
    assert "30 [21, 41" in bare
    assert "1.3" not in markdown
    with pytest.raises(SpecError, match="digits=, the field"):
        render(Table(rows=rows, columns=[Column("k", "K"), replace(column, show=significant(2))], caption="x"), "t")
    half_decimals = rows.assign(d=[0.5, 1])
    with pytest.raises(DataError, match="must be a whole number of decimals"):
        render(Table(rows=half_decimals, columns=[Column("k", "K"), column], caption="x"), "t")


def test_long_rotated_and_paragraph_tables_are_rendered() -> None:
    rows = pd.DataFrame({"k": ["a_b/c"], "t": ["*x* [@k]"]})
    columns = [Column("k", "K", width="20mm"), Column("t", "T", markup, width=0.5)]
    long = render(Table(rows=rows, columns=columns, caption="x", long=True, landscape=True, size="scriptsize"), "t")
    assert "% Packages: booktabs, array, longtable, pdflscape, natbib." in long
    assert r">{\raggedright\arraybackslash}p{56.9pt}" in long
    assert r"p{293.0pt}@{}" in long
    assert r"a\_\allowbreak{}b/\allowbreak{}c & \emph{x} \citep{k} \\" in long
    assert long.index(r"\begin{landscape}") < long.index(r"\scriptsize") < long.index(r"\endlastfoot")
    turned = render(Table(rows=rows, columns=columns, caption="x", landscape=True), "t")
    assert r"\begin{sidewaystable}" in turned
    assert r"\end{sidewaystable}" in turned


@pytest.mark.parametrize(
    ("caption", "short"),
    [
        ("One sentence.", r"\caption{One sentence.}"),
        ("First one. Second one.", r"\caption[{First one}]{First one. Second one.}"),
        ("LBP vs. RULER at $p$. More.", r"\caption[{LBP vs. RULER at $p$}]{"),
        ("Cited [@k].", r"\caption[{Cited}]{Cited \citep{k}.}"),
    ],
)
def test_the_list_of_tables_gets_the_first_sentence(caption: str, short: str) -> None:
    assert short in render(Table(rows=ROWS, columns=[Column("model", "M")], caption=caption), "t")


def test_wide_tables_are_set_smaller() -> None:
    def size_and_space(count: int, **options: object) -> tuple[str, float]:
        columns = [Column(f"c{i}", f"c{i}", fixed(3)) for i in range(count)]
        rows = pd.DataFrame({f"c{i}": [0.5, -0.25] for i in range(count)})
        fitted = fit_table(read(Table(rows=rows, columns=columns, caption="x", **options), "t"))
        return fitted.size, fitted.space

    assert [size_and_space(count) for count in (4, 10, 12, 13, 14, 15)] == [
        ("small", 6), ("small", 6), ("footnotesize", 5),
        ("footnotesize", 3.5), ("scriptsize", 3.5), ("scriptsize", 2.5),
    ]  # fmt: skip
    assert size_and_space(15, landscape=True) == ("small", 6)
    assert size_and_space(16, size="footnotesize", column_space=2) == ("footnotesize", 2)
    columns = [Column("model", "Model"), Column("tokens", "Window")]
    narrow = read(Table(rows=ROWS, columns=columns, caption="x"), "t")
    assert fit_table(narrow).width < LINE / 3


def test_paragraph_columns_shrink_to_fit_the_other_columns() -> None:
    rows = pd.DataFrame({"a": ["x"], "b": ["y"], "n": [1234567890123], "m": [1234567890123]})
    shares = [Column("a", "A", width=0.4), Column("b", "B", width=0.4)]
    alone = fit_table(read(Table(rows=rows, columns=shares, caption="x"), "t"))
    assert alone.paragraphs == {0: pytest.approx(0.4 * LINE - 10), 1: pytest.approx(0.4 * LINE - 10)}
    columns = [*shares, Column("n", "N"), Column("m", "M")]
    fitted = fit_table(read(Table(rows=rows, columns=columns, caption="x"), "t"))
    assert fitted.width == pytest.approx(LINE)
    assert fitted.paragraphs[0] == fitted.paragraphs[1] < alone.paragraphs[0]
    assert fitted.size == "scriptsize"


def _expanded(text: str) -> str:
    """Replace phantoms by their contents, drop overhanging text, and replace each digit by 0."""
    text = re.sub(r"\\rlap\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    text = re.sub(r"\\textbf\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", text)
    text = re.sub(r"\\phantom\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", text)
    text = re.sub(r"\$\^\{([^}]*)\}\$", lambda m: "".join("^" + char for char in m[1]), text)
    return re.sub(r"\d", "0", text.replace("$+$", "$-$").replace("--", "0"))


def _right(text: str, pieces: Pieces) -> tuple[str, ...]:
    """Return, sorted, the symbols that follow the integer part of a number."""
    expanded, lead = _expanded(text), _expanded(glyphs(pieces[0].tokens, "latex"))
    assert expanded.startswith(lead)
    return tuple(sorted(re.findall(r"\^.|\$[^$]*\$|\\.|.", expanded[len(lead) :])))


TEXT = """Scores & windows [a2020]. With 5% more.

                                 Score, n = 3
                  Score, n = 3         Window
Model                      LBP      (tokens)ᵃ
─────────────────────────────────────────────
Llama_3
[A] 1Bᵇ   45.3 [40.0, 50.0] **        131,072
B & C                        –          8,192

Qwen
*Dᵇ ᵃ         −3.0 [−4.0, 8.0]            256

A note.
– not run.
ᵃ Per window, n = 2.
ᵇ Another checkpoint.
* p < 0.05; ** p < 0.01; *** p < 0.001.
"""


def test_text_output_for_a_terminal_matches_exactly():
    assert render(SPEC, "scores", "text") == TEXT
    narrow = terminal_table(read(SPEC, "scores"), 20)
    assert all(cell in narrow for cell in ("45.3 [40.0, 50.0] **", "131,072", "−3.0 [−4.0, 8.0]", "[A] 1Bᵇ"))
    assert "\x1b[" in terminal_table(read(SPEC, "scores"), 80, colour=True)


FORMATS = st.sampled_from([fixed(0), fixed(3), signed(1), percent(1), scientific(2), significant(3)])
NUMBERS = st.floats(-1e5, 1e5).map(lambda x: round(x, 6))


@given(FORMATS, st.lists(st.tuples(NUMBERS, st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_decimals_line_up(show: Number, cells: list[tuple[float, bool, bool]]) -> None:
    numbers = [number_pieces(show.parts(value)) for value, _, _ in cells]
    column = [missing_pieces(pieces) if gap else pieces for pieces, (_, gap, _) in zip(numbers, cells, strict=True)]
    texts = align_column(column, "latex", [bold for _, _, bold in cells])
    assert len({_right(text, pieces) for text, pieces in zip(texts, column, strict=True)}) == 1
    if not isinstance(show, type(scientific(1))):
        plain = align_column(column, "html", [False] * len(column))
        ends = {len(text) - len(re.split(r"[.\u2008%]", text)[0]) for text in plain}
        assert len(ends) == 1


@given(st.lists(st.tuples(NUMBERS, st.floats(1e-3, 1e3)), min_size=1, max_size=6), st.booleans())
def test_uncertainties_and_intervals_line_up(cells: list[tuple[float, float]], as_interval: bool) -> None:
    show = uncertain()
    column = []
    for value, spread in cells:
        decimals = show.decimals(spread)
        pieces = number_pieces(show.parts_at(decimals, value))
        if as_interval:
            pieces += interval_pieces(
                [show.parts_at(decimals, value - spread), show.parts_at(decimals, value + spread)]
            )
        else:
            pieces += spread_pieces([show.parts_at(decimals, spread)])
        column.append(pieces)
    column.append(missing_pieces(column[0]))
    texts = align_column(column, "latex", [False] * len(column))
    assert len({_right(text, pieces) for text, pieces in zip(texts, column, strict=True)}) == 1


def test_power_of_ten_overhangs_the_digits_beside_it() -> None:
    column = [number_pieces(pvalue().parts(p)) for p in (0.012, 3.4e-12)]
    assert align_column(column, "latex", [False, False]) == ["0.012", r"$<$\,10\rlap{$^{-11}$}\phantom{.000}"]
    alone = [number_pieces(pvalue().parts(p)) for p in (1e-20, 3.4e-12)]
    assert align_column(alone, "latex", [False, False]) == [r"$<$\,10$^{-19}$", r"$<$\,10$^{-11}$"]
