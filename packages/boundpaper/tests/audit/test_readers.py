"""What each reader extracts from a document (lines, headers, captions, figure code, included files) and leaves out."""

import shutil
import subprocess

import pytest

from boundpaper.audit import checks, html, latex, markdown
from boundpaper.audit.reading import read

PLOT = r"""\begin{tikzpicture}
\begin{axis}[xlabel={Lamp}, ylabel={Height (cm)}, title={Heights}]
\addplot[red] coordinates {(red lamp,18.41) (blue lamp,19.32) (green lamp,17.55)};
\addplot+[mark=x] coordinates {(red lamp,22.75) (blue lamp,24.71) (green lamp,21.08)};
\legend{Day, Night {(cold, dark)}}
\end{axis}
\end{tikzpicture}
"""
GRID = r"""\begin{table}
\caption[Short]{Heights of lamps, in cm.}\label{tab:h}
\begin{tabular*}{\textwidth}{@{}l@{\extracolsep{\fill}}rr@{}}
\toprule
Lamp & Day & Night {(cold, dark)} \\
\cmidrule(lr){2-3}
\midrule
red lamp & 18.41 & \textbf{22.75} \\[2pt]
blue lamp & 19.32\,\% & 24.11 \\ % green & 1 & 2 \\
\multirow{1}{*}{green lamp} & $17.55$ & {21.08} \\
\bottomrule
\end{tabular*}
\end{table}
"""


def test_latex_table_is_read_with_header_and_caption():
    (table,) = latex.read(GRID, "a.tex").tables
    assert table.header == ("Lamp", "Day", "Night (cold, dark)")
    assert [row[0] for row in table.rows] == ["red lamp", "blue lamp", "green lamp"]
    assert [row[2] for row in table.rows] == ["22.75", "24.11", "21.08"]
    assert table.lines == (8, 9, 10)
    assert table.caption == "Heights of lamps, in cm."


def test_coordinates_of_a_pgfplots_figure_are_read_as_a_table():
    (table,) = latex.read(PLOT, "a.tex").tables
    assert (table.kind, table.header) == ("figure", ("Lamp", "Day", "Night (cold, dark)"))
    assert table.rows[1] == ("blue lamp", "19.32", "24.71")
    assert table.caption == "Heights Height (cm)"


@pytest.mark.parametrize(
    "document",
    [
        latex.read(GRID.replace(r"\,\%", "") + PLOT, "a.tex"),
        markdown.read(
            "| Lamp | Day | Night (cold, dark) |\n|--|--|--|\n| red lamp | 18.41 | 22.75 |\n"
            f"| blue lamp | 19.32 | 24.11 |\n| green lamp | 17.55 | 21.08 |\n\n```latex\n{PLOT}```\n",
            "a.md",
        ),
    ],
    ids=["latex", "markdown"],
)
def test_figure_value_that_differs_from_its_table_is_found(document):
    (finding,) = checks.audit([document])
    assert (finding.kind, finding.expected) == ("same-quantity", "24.11")
    assert "blue lamp, Night (cold, dark) = 24.71" in finding.printed


def test_latex_macros_and_numbers_are_read_as_printed():
    text = r"""\documentclass{article}\newcommand{\n}{95\% of 20 participants}
\begin{document}
% In all 62.5\% of 20 participants left.
\begin{comment} In all 62.5\% of 20 participants left. \end{comment}
\section*{One~lamp}\cite[62.5\% of 20 participants]{a} It is $t(20) = 1.10$, $p < 10^{-5}$ (see~\cite{b}),
and $\chi^2(2) = 9.21$ with $p{=}.01$. We took 1{,}234 \emph{lamps}, 3.1\,$\times 10^{4}$~beans.
\verb|p = 7.5| and \begin{verbatim} p = 7.5 \end{verbatim}
\end{document} p = 7.5"""
    document = latex.read(text, "a.tex")
    (finding,) = checks.audit([document])
    assert (finding.kind, finding.place.line) == ("statistic", 5)
    assert "p < 10⁻⁵" in finding.printed
    numbers = [number.value for sentence in document.sentences for number in sentence.numbers]
    assert 1234 in numbers
    assert 31000 in numbers


def test_input_files_of_a_latex_paper_are_read_and_named_in_findings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    main = (
        "\\begin{document}\n\\input{parts/one}\n% \\input{absent}\nSee \\ref{tab:h} and \\ref{gone}.\n\\end{document}\n"
    )
    (tmp_path / "a.tex").write_text(main, encoding="utf-8")
    (tmp_path / "parts/one.tex").write_text(GRID + "\nIn all 62.5\\% of 20 participants left.\n", encoding="utf-8")
    findings = checks.audit([read(tmp_path / "a.tex", "a.tex")])
    assert [str(finding.place) for finding in findings] == ["a.tex:4", "parts/one.tex:15"]
    (tmp_path / "a.tex").write_text(main.replace("% ", ""), encoding="utf-8")
    assert [finding.kind for finding in checks.audit([read(tmp_path / "a.tex", "a.tex")])] == ["statistic"]


def test_html_cells_that_span_rows_or_columns_are_read():
    text = """<p>Seen.</p><table><caption>Heights.</caption>
<tr><th rowspan="2">Lamp</th><th colspan="2">Height</th></tr>
<tr><th>Day</th><th>Night</th></tr>
<tr><td rowspan=2>red</td><td>18.41</td><td><b>22.75</b></td></tr>
<tr><td>19.32</td><td>24.11<sup>*</sup></td></tr></table><script>p = 7.5</script>"""
    document = html.read(text, "a.html")
    (table,) = document.tables
    assert table.header == ("Lamp", "Height Day", "Height Night")
    assert table.rows == (("red", "18.41", "22.75"), ("red", "19.32", "24.11*"))
    assert table.lines == (4, 5)
    assert table.caption == "Heights."
    assert [sentence.text for sentence in document.sentences] == ["Seen.", "Heights."]


def test_markdown_is_read_as_rendered():
    text = "---\ntitle: p = 7.5\n---\n\n# A `lamp`\n\nIt is **so**\nhere. In all 62.5% of 20 participants left.\n\n"
    text += "```\np = 7.5\n```\n\n- One $x^2$ item.\n\n"
    text += "<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>1</td></tr></table>\n"
    document = markdown.read(text, "a.md")
    assert [sentence.text for sentence in document.sentences if sentence.level] == ["A lamp"]
    levels = [(sentence.level, sentence.place.line) for sentence in document.sentences]
    assert levels == [(1, 5), (0, 7), (0, 8), (0, 14)]
    assert [table.line for table in document.tables] == [16]
    (finding,) = checks.audit([document])
    assert finding.place.line == 8


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc reads DOCX")
def test_wrong_gain_in_a_word_document_is_found(tmp_path):
    rows = "| Lamp | Old | New | Gain |\n|--|--|--|--|\n| a | 10.1 | 12.4 | 2.3 |\n| b | 11.7 | 19.2 | 7.5 |\n"
    rows += "| c | 13.3 | 16.0 | 3.7 |\n| d | 20.9 | 26.0 | 5.1 |\n"
    (tmp_path / "a.md").write_text(rows, encoding="utf-8")
    subprocess.run(["pandoc", "a.md", "-o", "a.docx"], cwd=tmp_path, check=True)
    (finding,) = checks.audit([read(tmp_path / "a.docx", "a.docx")])
    assert finding.printed == "Gain = 3.7 of c"


@pytest.mark.latex
def test_a_pdf_gives_the_statistics_of_its_sentences(tmp_path):
    body = "They differ, t(20) = 1.10, p = .03, and the drop is 12.5 - 3.1 = 9.4 in all."
    text = f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (tmp_path / "a.tex").write_text(text, encoding="utf-8")
    result = subprocess.run(
        ["pdflatex", "-interaction=batchmode", "a.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stdout
    (finding,) = checks.audit([read(tmp_path / "a.pdf", "a.pdf")])
    assert (finding.kind, finding.printed) == ("statistic", "t(20) = 1.10, p = .03")


@pytest.mark.parametrize("label", [r"\begin{code}[code:a]{cpp}{A}", r"\begin{lstlisting}[label=code:a]"])
def test_label_set_by_an_environment_option_is_known(label):
    end = label[6:].partition("}")[0]
    text = f"\\begin{{document}}\nSee \\ref{{code:a}}.\n{label}\nx\n\\end{end}}}\n\\end{{document}}\n"
    assert checks.audit([latex.read(text, "a.tex")]) == []


@pytest.mark.parametrize(("option", "count"), [(r"[escapechar=\%]", 0), ("", 1)])
def test_label_inside_a_listing_is_known_only_with_escape(option, count):
    listing = f"\\begin{{lstlisting}}{option}\nf(x) % \\label{{call}} %\n\\end{{lstlisting}}"
    text = f"\\begin{{document}}\n\\section{{Calls}}\n{listing}\nSee line \\ref{{call}}.\n\\end{{document}}\n"
    assert [finding.kind for finding in checks.audit([latex.read(text, "a.tex")])] == ["reference"] * count


def test_labels_are_looked_up_without_copying_those_before(monkeypatch):
    copied = []
    monkeypatch.setattr(latex, "dict", lambda pairs: copied.append(pairs) or dict(pairs), raising=False)
    labels = "".join(f"\\begin{{code}}[code:{place}]x\\end{{code}}\n" for place in range(50))
    document = latex.read(f"\\begin{{document}}\n{labels}\\end{{document}}\n", "a.tex")
    assert [name for name, _ in document.labels] == [f"code:{place}" for place in range(50)]
    assert copied == []


@pytest.mark.parametrize("fence", ["```", "````"])
def test_section_after_a_fence_in_a_fence_is_not_reported_as_missing(fence):
    block = f"{fence}markdown\n```text\nx\n```\n{fence}\n"
    text = f"# A\n\n## 1 One\n\n## 2 Two\n\n{block}\n## 3 Three\n\n{block}\n## 4 Four\n\n## 5 Five\n"
    assert checks.audit([markdown.read(text, "a.md")]) == []
