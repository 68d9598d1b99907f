"""Values in the classes of venues: no error, the same print after binding, every byte back."""

import pytest

from adopt.adopting import folder, needs, pdf_text, run

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
