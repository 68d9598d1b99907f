"""Values in the classes of venues: no error, the same print after binding, every byte back."""

import pytest

from adopting import folder, needs, pdf_text, run

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


@pytest.mark.latex
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(*files)) for name, (files, _) in CLASSES.items()])
def test_tables_fit_the_columns_of_the_class(tmp_path, name):
    main = CLASSES[name][1] + BODY.replace("\\end{document}", "\\boundtable{small}\\boundtable{wide}\\end{document}")
    root = folder(
        tmp_path, main, tables__small_dot_py=TABLE.replace("WIDE", "2"), tables__wide_dot_py=TABLE.replace("WIDE", "4")
    )
    said = run(root, "init")
    assert "columns of" in said
    pdf_text(root)
    log = (root / "main.log").read_text(errors="replace")
    assert "Heights" in (root / "bound/tables/wide.tex").read_text()
    assert "threeparttable" not in (root / "bound/tables/wide.tex").read_text()
    over = [line for line in log.splitlines() if line.startswith("Overfull") and "in alignment" in line]
    assert not over, (said, over)
    run(root, "flatten", "-o", "plain")
    assert "0.831" in pdf_text(root / "plain")


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
