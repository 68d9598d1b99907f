"""Papers in venues' document classes compile, print the same after binding, and can be restored byte for byte."""

import re
import shutil

import pypdf
import pytest

from adopting import needs_tex, pdf_text, run, tex_finds, write_paper
from boundpaper.adopt.exhibits import PALATINO_FONTS
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
    "acl": (("acl.sty",), "\\documentclass[11pt]{article}\n\\usepackage{acl}\n\\title{Beans}\\author{A}\n" + BEGIN),
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


STAND_INS = {
    "acl.sty": """\\RequirePackage[a4paper,margin=2.5cm]{geometry}
\\RequirePackage{times,natbib}
\\setlength\\columnsep{6mm}
\\twocolumn\\sloppy
""",
    "neurips_2026.sty": """\\RequirePackage[letterpaper,textwidth=5.5in,textheight=9in]{geometry}
\\RequirePackage{times,natbib}
\\setlength\\parindent{0pt}\\setlength\\parskip{5.5pt}
""",
}
"""Substitutes for styles that no TeX distribution has, with equal page, columns, font and citations."""
IN_CLASSES = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=needs_tex(*(set(files) - set(STAND_INS)))) for name, (files, _) in CLASSES.items()],
)


def in_class(root, name, body, **files):
    """Return a folder with a paper in a document class; styles missing from TeX are replaced by stand-ins."""
    for file in CLASSES[name][0]:
        if file in STAND_INS and not tex_finds(file):
            (root / file).write_text(STAND_INS[file])
    return write_paper(root, CLASSES[name][1] + body, **files)


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


FACE = "\\setmainfont{texgyretermes-regular.otf}\n"
WIDTHS = {"explicit": ", width=150.0", "default": ""}


@pytest.mark.latex
@IN_CLASSES
def test_numbers_tables_and_figures_are_bound_in_a_venue_class(tmp_path, name):
    """A figure is as wide as a column; a table wider than a column spans both; the flattened paper prints the same."""
    body, end = BODY.split("\\end{document}")
    exhibits = "\\boundtable{small}\\boundtable{wide}\\boundfigure{one}\\boundfigure{two}\\end{document}"
    root = in_class(tmp_path, name, body + exhibits + end)
    for path, text, placeholder, value in (
        ("tables/small", TABLE, "WIDE", "2"),
        ("tables/wide", TABLE, "WIDE", "4"),
        ("figures/one", FIGURE, "WIDTH", ""),
        ("figures/two", FIGURE, "WIDTH", ", width=118"),
    ):
        (root / path).parent.mkdir(exist_ok=True)
        (root / f"{path}.py").write_text(text.replace(placeholder, value))
    assert "columns of" in run(root, "init")
    run(root, "lint", "--fix")
    assert (root / "main.tex").read_text().count(r"\val{") == 10
    pdf_words = pdf_text(root)
    page, bound = folder_of(root).page, root / "bound"
    star = "*" if page.column + 0.3 < 118 * 72.27 / 25.4 else ""
    assert "bean 2" in pdf_words
    assert "Heights" in (bound / "tables/wide.tex").read_text()
    assert "threeparttable" not in (bound / "tables/wide.tex").read_text()
    assert "\\begin{figure}[tbp]" in (bound / "figures/one.tex").read_text()
    assert f"\\begin{{figure{star}}}[tbp]" in (bound / "figures/two.tex").read_text()
    width = float(pypdf.PdfReader(bound / "figures/one.pdf").pages[0].mediabox.width)
    assert width == pytest.approx(page.column * 72 / 72.27, abs=1)
    log = (root / "main.log").read_text(errors="replace")
    assert not [line for line in log.splitlines() if line.startswith("Overfull \\hbox") and "\\output" not in line]
    run(root, "build", "--check")
    run(root, "flatten", "-o", "plain")
    plain = re.sub(r"\\usepackage\{[\w,]*booktabs[\w,]*\}\n", "", (root / "plain/main.tex").read_text())
    assert plain.startswith(CLASSES[name][1] + body), "the packages of the exhibits are added, and nothing else"
    for file in STAND_INS.keys() & {path.name for path in root.iterdir()}:
        (root / "plain" / file).write_text(STAND_INS[file])
    assert pdf_text(root / "plain") == pdf_words


LONG = '''"""Heights of many."""

from boundpaper.tables import Column, Table, fixed


def table(heights):
    rows = heights.loc[heights.index.repeat(40)].reset_index(drop=True)
    columns = [Column("plant", "Plant"), Column("gain", "Gain", fixed(3))]
    return Table(rows=rows, columns=columns, caption="Heights of many.", note="Forty of each.", long=True)
'''


@pytest.mark.latex
@pytest.mark.parametrize("name", ["article", "acl"])
def test_long_table_in_two_columns_is_split_into_floats_of_page_height(tmp_path, name):
    """Each float has a header and as many rows as fit; the caption continues, and no row is lost."""
    body = BODY.replace("\\end{document}", "\\boundtable{many}\\end{document}")
    root = in_class(tmp_path, name, body, tables__many_dot_py=LONG)
    run(root, "init")
    pdf_words = pdf_text(root)
    generated = (root / "bound/tables/many.tex").read_text()
    floats = generated.split("\\begin{table}")[1:]
    assert len(floats) > 1
    assert "longtable" not in generated
    assert all("Plant & Gain" in text for text in floats)
    assert ["\\caption{Heights of many.}" in text for text in floats] == [True] + [False] * (len(floats) - 1)
    assert all("\\emph{Table \\ref{tab:many}, continued}" in text for text in floats[1:])
    assert len(re.findall(r"^(?:bean|pea \\& co) &", generated, re.MULTILINE)) == 120
    assert len(re.findall(r"\b0\.831\b", pdf_words)) >= 40
    log = (root / "main.log").read_text(errors="replace")
    assert not re.search(r"Float too large|^Overfull", log, re.MULTILINE)
    run(root, "build", "--check")


@pytest.mark.latex
@pytest.mark.parametrize(
    ("preamble", "family", "typefaces"),
    [
        ("", "cmr", "LMRoman|LMMath"),
        ("\\usepackage{mathptmx}", "ptm", "NimbusRom"),
        ("\\usepackage{mathpazo}", "ppl", "TeXGyrePagella|URWPalladio|P052"),
        ("\\usepackage{charter}", "bch", "CharterBT"),
        ("\\usepackage{bookman}", "pbk", "URWBookman"),
        ("\\renewcommand{\\familydefault}{\\sfdefault}", "cmss", "LMSans"),
        ("\\usepackage{helvet}\\renewcommand{\\familydefault}{\\sfdefault}", "phv", "NimbusSan"),
    ],
)
def test_figure_text_uses_the_font_of_the_document(tmp_path, preamble, family, typefaces):
    main = CLASSES["article"][1].replace("\\title", f"{preamble}\n\\title") + "A\\boundfigure{one}\\end{document}"
    root = write_paper(tmp_path, main, figures__one_dot_py=FIGURE.replace("WIDTH", ""))
    run(root, "init")
    assert folder_of(root).page.font == family
    page = pypdf.PdfReader(root / "bound/figures/one.pdf").pages[0]
    fonts = {str(font.get_object()["/BaseFont"]).partition("+")[2] for font in page["/Resources"]["/Font"].values()}
    assert fonts
    assert all(re.match(rf"{typefaces}|CMSY|CMMI", name) for name in fonts), fonts
    assert any(re.match(typefaces, name) for name in fonts)


@pytest.mark.latex
def test_explicit_figure_width_is_used_even_when_equal_to_a_default(tmp_path):
    main = CLASSES["KOMA"][1].replace("{scrartcl}", "[twocolumn]{scrartcl}\n\\usepackage[width=160mm]{geometry}")
    files = {f"figures__{name}_dot_py": FIGURE.replace("WIDTH", width) for name, width in WIDTHS.items()}
    root = write_paper(tmp_path, main + "A\\boundfigure{explicit}\\boundfigure{default}\\end{document}", **files)
    run(root, "init")
    widths = {name: pypdf.PdfReader(root / f"bound/figures/{name}.pdf").pages[0].mediabox.width for name in WIDTHS}
    assert float(widths["explicit"]) == pytest.approx(150 * 72 / 25.4, abs=1)
    assert float(widths["default"]) < 80 * 72 / 25.4


@pytest.mark.latex
@pytest.mark.parametrize("program", ["xelatex", "lualatex"])
def test_page_is_measured_with_the_papers_tex_program_or_missing_program_is_named(tmp_path, program):
    """Figures keep the font Palatino if pdfLaTeX lacks the paper's font, and a note says so."""
    main = f"% !TeX program = {program}\n\\documentclass[twocolumn]{{article}}\\usepackage{{fontspec}}\n"
    output = run(write_paper(tmp_path, main + FACE + BEGIN + BODY), "init", "--dry-run")
    if shutil.which(program):
        assert "columns of 229.5 pt, text of 469 pt" in output
        assert "figures are set in Palatino: pdfLaTeX has no " in output
    else:
        assert f"the page was not measured ({program} is not installed); write its sizes under [page]" in output


def test_table_that_fails_to_build_is_reported_with_file_and_line(tmp_path):
    main = CLASSES["article"][1] + BODY.replace("\\end{document}", "\\boundtable{one}\n\\end{document}")
    root = write_paper(tmp_path, CLASSES["article"][1] + BODY, tables__one_dot_py=TABLE.replace("WIDE", "2"))
    run(root, "init")
    (root / "main.tex").write_text(main.replace("{article}\n", "{article}\n\\input{bound/bound}\n"))
    for old, new, words in (
        ("WIDE", "14", "pt wide, but the text is 469 pt wide: use size="),
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


def test_figure_preamble_holds_the_fonts_and_text_size_of_the_document():
    assert PALATINO_FONTS in preamble()
    assert "[11pt," in preamble()


@pytest.mark.latex
def test_figure_is_rebuilt_only_when_its_data_change(tmp_path):
    main = CLASSES["article"][1] + BODY.replace("\\end{document}", "\\boundfigure{one}\n\\end{document}")
    root = write_paper(tmp_path, main, figures__one_dot_py=FIGURE.replace("WIDTH", ""))
    run(root, "init")
    pdf = root / "bound/figures/one.pdf"
    stamp_and_bytes = pdf.stat().st_mtime_ns, pdf.read_bytes()
    run(root, "build")
    assert (pdf.stat().st_mtime_ns, pdf.read_bytes()) == stamp_and_bytes
    data = root / "results/heights.csv"
    data.write_text(data.read_text().replace("0.7212", "0.6212"))
    assert "bound/figures/one.pdf" in run(root, "build", "--check", code=1)
    assert pdf.read_bytes() == stamp_and_bytes[1]
    run(root, "build")
    assert pdf.read_bytes() != stamp_and_bytes[1]
    data.write_text(data.read_text().replace("0.6212", "0.7212"))
    run(root, "build")
    assert pdf.read_bytes() == stamp_and_bytes[1]
    pdf.write_bytes(b"%PDF other")
    assert "bound/figures/one.pdf: edited by hand" in run(root, "build", code=1)
    (root / "figures/one.pdf").write_bytes(b"%PDF mine")
    assert "figures/one.pdf: another picture has this name" in run(root, "flatten", "-o", "plain", code=1)
    for old, new, words in (
        ("WIDTH", ", width=190", "fig:one is 190 mm wide, but the text is 165: use width="),
        ("def figure", "def table", "figures/one.py: no function figure; write `def figure("),
        ("    return Figure", "    Figure", "figure() returned NoneType; end it with `return Figure"),
        ('["gain"]', '["gane"]', "figures/one.py:7: KeyError"),
    ):
        (root / "figures/one.py").write_text(FIGURE.replace(old, new).replace("WIDTH", ""))
        assert words in run(root, "build", "--force", code=1)
