"""Values in the classes of venues: no error, the same print after binding, every byte back."""

import pypdf
import pytest

from adopting import folder, needs, pdf_text, run
from boundpaper.adopt.exhibits import OWN_FONTS
from boundpaper.adopt.folder import read as folder_of
from boundpaper.figures.render import preamble

BODY = r"""
\section{A gain of 0.831}
The bean gains 0.831 and $-0.314$; 91{,}270 pods, 83.14\% ripe\footnote{Or .7212.}.
\begin{table}[t]\caption{Height 0.7212.}\label{t}\centering
\begin{tabular}{lr} Bean & 0.8314 \\ Pea & 0.7212 \\ \end{tabular}
\end{table}
\begin{equation} M = 0.8314 \end{equation}
\end{document}
"""
BEGIN = "\\begin{document}\n\\maketitle\n"
CLASSES = {
    "article": (("article.cls",), "\\documentclass[twocolumn]{article}\n\\title{Beans}\n" + BEGIN),
    "IEEEtran": (("IEEEtran.cls",), "\\documentclass[conference]{IEEEtran}\n\\title{Beans}\n" + BEGIN),
    "acmart": (
        ("acmart.cls",),
        "\\documentclass[sigconf,nonacm]{acmart}\n\\title{Beans}\n\\author{A}\\affiliation{\\institution{B}\\country{C}}\n"
        + BEGIN,
    ),
    "acl": (
        ("acl.sty",),
        "\\documentclass[11pt]{article}\n\\usepackage{acl}\n\\title{Beans}\\author{A}\n" + BEGIN,
    ),
    "neurips": (
        ("neurips_2026.sty",),
        "\\documentclass{article}\n\\usepackage{neurips_2026}\n\\title{Beans}\\author{A}\n" + BEGIN,
    ),
    "revtex": (
        ("revtex4-2.cls",),
        "\\documentclass[reprint]{revtex4-2}\n\\begin{document}\n\\title{Beans}\\author{A}\\maketitle\n",
    ),
    "elsarticle": (
        ("elsarticle.cls",),
        "\\documentclass[5p]{elsarticle}\n\\begin{document}\n\\begin{frontmatter}\\title{Beans}\\author{A}\\end{frontmatter}\n",
    ),
    "KOMA": (("scrartcl.cls",), "\\documentclass{scrartcl}\n\\title{Beans}\n" + BEGIN),
    "llncs": (
        ("llncs.cls",),
        "\\documentclass{llncs}\n\\begin{document}\n\\title{Beans}\\author{A}\\institute{B}\\maketitle\n",
    ),
}


@pytest.mark.latex
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(*files)) for name, (files, _) in CLASSES.items()])
def test_a_paper_in_the_class_of_a_venue_is_bound_and_comes_back(tmp_path, name):
    main = CLASSES[name][1] + BODY
    root = folder(tmp_path, main)
    before = pdf_text(root)
    run(root, "init")
    run(root, "lint", "--fix")
    text = (root / "main.tex").read_text()
    assert text.count(r"\val{") == 10, text
    run(root, "build", "--check")
    assert pdf_text(root) == before
    run(root, "flatten", "--in-place")
    assert (root / "main.tex").read_text() == main


TABLE = """\"\"\"Heights.\"\"\"

from boundpaper.tables import Column, Table, fixed


def table(heights):
    names = ["gain", "loss"] * WIDE
    rows = heights.assign(**{f"c{at}": heights[name] for at, name in enumerate(names)})
    columns = [Column(f"c{at}", f"{name.title()} {at}", fixed(3)) for at, name in enumerate(names)]
    first = Column("plant", "Plant")
    return Table(rows=rows, columns=[first, *columns], caption="Heights [@bean2020].", note="A note.")
"""


FIGURE = '''"""Gains."""

from boundpaper.figures import Axis, Bars, Figure, Panel


def figure(heights):
    bars = Bars(x=["bean 1", "pea", "bean 2"], y=list(heights["gain"]))
    return Figure(panels=[Panel(series=[bars], y=Axis(label="gain"))], caption="Gains [@bean2020]."WIDTH)
'''


@pytest.mark.latex
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(*files)) for name, (files, _) in CLASSES.items()])
def test_tables_and_figures_fit_the_columns_of_the_class(tmp_path, name):
    """A figure is as wide as a column; what is wider than one goes over both; a flattened paper prints the same."""
    exhibits = "\\boundtable{small}\\boundtable{wide}\\boundfigure{one}\\boundfigure{two}\\end{document}"
    root = folder(tmp_path, CLASSES[name][1] + BODY.replace("\\end{document}", exhibits))
    for kind, text, each, other in (
        ("tables/small", TABLE, "WIDE", "2"),
        ("tables/wide", TABLE, "WIDE", "4"),
        ("figures/one", FIGURE, "WIDTH", ""),
        ("figures/two", FIGURE, "WIDTH", ", width=118"),
    ):
        (root / kind).parent.mkdir(exist_ok=True)
        (root / f"{kind}.py").write_text(text.replace(each, other))
    assert "columns of" in run(root, "init")
    printed = pdf_text(root)
    page, made = folder_of(root).page, root / "bound"
    both = "*" if page.column + 0.3 < 118 * 72.27 / 25.4 else ""
    assert "bean 2" in printed
    assert "Heights" in (made / "tables/wide.tex").read_text()
    assert "threeparttable" not in (made / "tables/wide.tex").read_text()
    assert "\\begin{figure}[tbp]" in (made / "figures/one.tex").read_text()
    assert f"\\begin{{figure{both}}}[tbp]" in (made / "figures/two.tex").read_text()
    width = float(pypdf.PdfReader(made / "figures/one.pdf").pages[0].mediabox.width)
    assert width == pytest.approx(page.column * 72 / 72.27, abs=1)
    log = (root / "main.log").read_text(errors="replace")
    over = [line for line in log.splitlines() if line.startswith("Overfull \\hbox") and "\\output" not in line]
    assert not over
    run(root, "build", "--check")
    run(root, "flatten", "-o", "plain")
    assert pdf_text(root / "plain") == printed


def test_a_table_that_cannot_be_made_is_told_by_its_file_and_line(tmp_path):
    main = CLASSES["article"][1] + BODY.replace("\\end{document}", "\\boundtable{one}\n\\end{document}")
    root = folder(tmp_path, CLASSES["article"][1] + BODY, tables__one_dot_py=TABLE.replace("WIDE", "2"))
    run(root, "init")
    (root / "main.tex").write_text(main.replace("{article}\n", "{article}\n\\input{bound/bound}\n"))
    for old, new, words in (
        ("WIDE", "14", "pt wide, the text 469: take size="),
        ("heights)", "hights)", "no data called hights; did you mean 'heights'?"),
        ('["gain", "loss"] * WIDE', '["gane"]', "tables/one.py:8: KeyError"),
        ("    return Table", "    Table", "table() returned NoneType"),
        ("def table", "def table(", "tables/one.py:6: SyntaxError"),
    ):
        text = TABLE.replace(old, new, 1).replace("WIDE", "2")
        (root / "tables/one.py").write_text(text)
        assert words in run(root, "build", code=1)
    (root / "tables/one.py").unlink()
    assert "no tables/one.py" in run(root, "build", code=1)


def test_what_fits_a_figure_to_the_text_is_in_the_preamble_that_it_changes():
    assert OWN_FONTS in preamble()
    assert "[11pt," in preamble()


@pytest.mark.latex
def test_a_figure_follows_its_data_and_is_made_once(tmp_path):
    main = CLASSES["article"][1] + BODY.replace("\\end{document}", "\\boundfigure{one}\n\\end{document}")
    root = folder(tmp_path, main, figures__one_dot_py=FIGURE.replace("WIDTH", ""))
    run(root, "init")
    pdf = root / "bound/figures/one.pdf"
    made = pdf.stat().st_mtime_ns, pdf.read_bytes()
    run(root, "build")
    assert (pdf.stat().st_mtime_ns, pdf.read_bytes()) == made
    data = root / "results/heights.csv"
    data.write_text(data.read_text().replace("0.7212", "0.6212"))
    assert "bound/figures/one.pdf" in run(root, "build", "--check", code=1)
    assert pdf.read_bytes() == made[1]
    run(root, "build")
    assert pdf.read_bytes() != made[1]
    data.write_text(data.read_text().replace("0.6212", "0.7212"))
    run(root, "build")
    assert pdf.read_bytes() == made[1]
    pdf.write_bytes(b"%PDF other")
    assert "bound/figures/one.pdf: edited by hand" in run(root, "build", code=1)
    (root / "figures/one.pdf").write_bytes(b"%PDF mine")
    assert "figures/one.pdf: another picture of this name is there" in run(root, "flatten", "-o", "plain", code=1)
    for old, new, words in (
        ("WIDTH", ", width=190", "fig:one is 190 mm wide, the text 165: take width="),
        ("def figure", "def table", "figures/one.py: no function figure; write `def figure("),
        ("    return Figure", "    Figure", "figure() returned NoneType; end it with `return Figure"),
        ('["gain"]', '["gane"]', "figures/one.py:7: KeyError"),
    ):
        (root / "figures/one.py").write_text(FIGURE.replace(old, new).replace("WIDTH", ""))
        assert words in run(root, "build", "--force", code=1)
