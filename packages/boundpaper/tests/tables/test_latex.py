"""Tables on paper: pdflatex compiles the most difficult ones without warnings, and columns are aligned in the PDF."""

import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from boundpaper.tables import (
    Column,
    Table,
    fixed,
    integer,
    markup,
    percent,
    printed,
    pvalue,
    scientific,
    signed,
    text,
    uncertain,
)
from boundpaper.tables.render import render
from boundpaper.typeset.characters import LATEX, SCRIPTS, T1_LETTERS

pytestmark = pytest.mark.latex

ASCII = "".join(map(chr, range(32, 127)))
LIGATURES = "--- -- '' `` ,, << >> !` ?` fi [x] *y"
PREAMBLE = r"""\documentclass[11pt,a4paper,DIV=11,captions=tableheading,numbers=noenddot]{scrreprt}
\usepackage[T1]{fontenc}
\usepackage{mathpazo,tgpagella,tgheros}\renewcommand{\ttdefault}{lmtt}
\usepackage{booktabs,array,longtable,pdflscape,rotating}
\usepackage[numbers]{natbib}
\begin{document}
\listoftables
"""
END = r"\begin{thebibliography}{1}\bibitem{a2020} A.\end{thebibliography}\end{document}"

NASTY = pd.DataFrame(
    {
        "family": ["Llama & co", "Llama & co", "Llama & co", "[Qwen]", "[Qwen]", "*Mistral_x"],
        "model": ["[Llama-3.1-8B]", "Llama_3.2", "*star", "Mistral", "Ministral 3 14B", "Qwen3"],
        "score": [45.25, None, -3.1, 12.345, 102.3, -0.001],
        "why": ["", "not measured & _x", "", "", "", ""],
        "mark": ["ck", "", "ck, win", "", "", "win"],
        "r": [0.853, -0.12, 0.4, -0.998, 0.001, 0.5],
        "low": [0.7, -0.5, -0.1, -1.0, -0.2, 0.1],
        "high": [0.9, 0.3, 0.7, -0.9, 0.2, 0.7],
        "p": [0.0004, 0.2, 0.0504, 0.01, 0.999, 3.4e-12],
        "norm": [12.5, 3.2, -17.1, 0.5, 12.0, 3.0],
        "sd": [1.25, 0.4, 1.1, 0.5, 0.99, 0.3],
        "error": [3.4e-12, 1.2e5, -4e-4, 1.0, 0.0, 2e-3],
        "tokens": [131072, 8192, 256, 1024, 2048, 5],
        "printed": ["−39%", "~50", "+37×", "97-100%", "< 10⁻⁴⁸", "3.00e-4"],
        "share": [0.895, 0.05, 1.0, 0.333, 0.5, 0.25],
    }
)


def compiled(folder: Path, document: str) -> str:
    """Run pdflatex until a document's references and column widths are known, and return the last log."""
    (folder / "main.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "main.tex"]
    for _ in range(3):
        subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=True)
    return (folder / "main.log").read_text(encoding="latin-1")


def typeset(folder: Path, **tables: Table) -> str:
    """Return pdflatex's log of one document with all tables."""
    body = []
    for name, spec in tables.items():
        (folder / f"{name}.tex").write_text(render(spec, name), encoding="utf-8")
        body.append(f"See \\ref{{tab:{name}}}.\\input{{{name}}}")
    return compiled(folder, PREAMBLE + "\n\\clearpage\n".join(body) + END)


def complaints(log: str) -> list[str]:
    return re.findall(
        r"^(?:!.*|Overfull.*|Missing character.*|LaTeX Warning.*|LaTeX Font Warning.*|Package.*Warning.*)$", log, re.M
    )


def words(folder: Path) -> list[tuple[float, float, float, str]]:
    """Return the PDF's words: left, right, top (pt) and text."""
    command = ["pdftotext", "-bbox", "main.pdf", "-"]
    page = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True).stdout
    boxes = re.findall(r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="[\d.]+">([^<]*)</word>', page)
    return [(float(left), float(right), float(top), word) for left, top, right, word in boxes]


def test_tables_with_difficult_content_compile(tmp_path: Path) -> None:
    marks = {"ck": "another checkpoint, 100% & more", "win": "per window, $n = 7$"}
    first = Table(
        rows=NASTY,
        columns=[
            Column("model", "Model", mark="mark"),
            Column("score", "Score", fixed(2), p="p", reason="why", title_mark="ck", group="Scores & _"),
            Column("tokens", "Window", integer(), unit="tokens", group="Scores & _"),
            Column("r", "$r$", fixed(2), ci=("low", "high"), best="max"),
            Column("p", "$p$", pvalue()),
            Column("norm", "Norm\nat layer 1", uncertain(), uncertainty="sd"),
        ],
        caption=r"A *nasty* table with $\alpha_k$ & 100% [@a2020]. More.",
        note=["A note [@a2020].", r"\*Another\* note."],
        marks=marks,
        groups="family",
    )
    second = Table(
        rows=NASTY.assign(ruled=[False] * 5 + [True]),
        columns=[
            Column("model", "Model", mark="mark"),
            Column("score", "Score", signed(1), missing="none"),
            Column("error", "Error", scientific(1)),
            Column("share", "Share", percent(1, share=True)),
            Column("printed", "Printed", printed(), mark="mark"),
        ],
        caption="Turned.",
        marks=marks,
        landscape=True,
        rule_before="ruled",
    )
    characters = [LIGATURES, *(" ".join(sorted(letters)) for letters in (ASCII, T1_LETTERS, LATEX, SCRIPTS))]
    claims = pd.DataFrame(
        {
            "claim": [f"a_claim_with_a_very_long_name/{i}" for i in range(60)],
            "statement": [characters[i % 5] if i % 2 else "Words that go on until they wrap." for i in range(60)],
            "section": [f"§ {i // 20}" for i in range(60)],
            "reported": [i * 1.5 for i in range(60)],
            "verdict": ["*holds*"] * 60,
        }
    )
    long = Table(
        rows=claims,
        columns=[
            Column("claim", "Claim", width=0.25),
            Column("statement", "Statement", text, width=0.45),
            Column("reported", "Reported", fixed(1)),
            Column("verdict", "Verdict", markup, width="18mm", repeat=False),
        ],
        caption="A long table whose caption is so long that it must wrap once and show how wide it is set. More.",
        note="Below.",
        groups="section",
        long=True,
    )
    log = typeset(tmp_path, first=first, second=second, long=long)
    assert complaints(log) == []


def test_table_compiles_with_only_the_packages_it_names(tmp_path: Path) -> None:
    latex = render(Table(rows=NASTY, columns=[Column("model", "Model"), Column("r", "r", fixed(2))], caption="X."), "x")
    packages = re.search(r"^% Packages: (.*)\.$", latex, re.M)
    assert packages
    preamble = f"\\documentclass{{article}}\\usepackage[T1]{{fontenc}}\\usepackage{{{packages[1]}}}"
    compiled(tmp_path, f"{preamble}\\begin{{document}}\n{latex}\\end{{document}}")


def test_decimals_are_aligned_in_the_pdf(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {
            "row": ["alpha", "beta", "gamma", "delta", "epsilon"],
            "x": [1.5, -22.25, 333.125, None, -0.0001],
            "p": [0.001, 0.3, 0.04, None, 0.2],
            "low": [1.0, -30.0, 300.0, None, -1.0],
            "high": [2.0, -20.0, 400.0, None, 1.0],
            "m": ["a,b", "", "a", "", "b"],
        }
    )
    columns = [
        Column("row", "Row", mark="m"),
        Column("x", "X", fixed(2), p="p", missing="none"),
        Column("y", "Y", fixed(2), ci=("low", "high"), missing="none"),
        Column("z", "Z", percent(1), missing="none", p="p"),
    ]
    rows = rows.assign(y=rows["x"], z=rows["x"])
    spec = Table(rows=rows, columns=columns, caption="Lined up.", marks={"a": "first", "b": "second"})
    assert complaints(typeset(tmp_path, lined=spec)) == []
    boxes = words(tmp_path)
    ends = {number: [right for _, right, _, word in boxes if word == number] for number in ("22.25", "0.00")}
    assert len(ends["0.00"]) == 2, boxes  # in the columns x and y
    assert ends["0.00"] == pytest.approx(ends["22.25"], abs=0.05)
    # values are right-aligned whatever follows; intervals directly follow their value and are ragged on the right
    values = [right for left, right, _, word in boxes if word in ("1.50", "22.25", "333.13", "0.00") and left > 255]
    assert len(values) == 4
    assert max(values) - min(values) < 0.05
    brackets = [left for left, _, _, word in boxes if word.startswith("[") and 280 < left < 300]
    assert len(brackets) == 4, boxes
    assert max(brackets) - min(brackets) < 0.05
    assert min(brackets) - max(values) < 3, "no gap between a value and its interval"
