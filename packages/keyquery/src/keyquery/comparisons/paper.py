"""Write a comparison as a new paper: its measurements, and files for the study, table, figure and chapter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import ThesisError
from boundpaper.papers import new
from boundpaper.places import VARIABLE, project
from boundpaper.store.files import write
from keyquery.comparisons.measured import read

if TYPE_CHECKING:
    from keyquery.comparisons.comparison import Comparison
    from keyquery.comparisons.paired import TestedQuantity

NAME = "comparison"
FILE = '''"""{title}"""

import pandas as pd
{imports}
from keyquery.comparisons.paper import again


def {function}({parameters}) -> {returned}:
    """{summary}; the parameters say which measurements are read."""
    return again({arguments}).{attribute}
'''
FIELDS = ("imports", "function", "returned", "summary", "attribute")
FILES = {  # the fields of `FILE`, by folder
    "analysis/studies": ("", "comparison", "pd.DataFrame", "Test the models", "frame"),
    "tables": ("\nfrom boundpaper.tables import Table", "table", "Table", "Show every test", "table()"),
    "figures": ("\nfrom boundpaper.figures import Figure", "figure", "Figure", "Draw the differences", "figure()"),
}
NUMBER = "type: number, unit: null"
RESOURCE = f"""- name: comparison
  path: results/comparison.csv
  kind: result
  description: Models held against a reference, one row per test; all tests are one family.
  fields: [{{experiment*: Which experiment}}, {{quantity*: What is compared}}, {{values_in~: Unit of its values}},
    {{reference!: The model that others are held against}}, {{model*: The model that is held against it}},
    {{reference_mean!: Mean of the reference, {NUMBER}}}, {{model_mean!: Mean of the model, {NUMBER}}},
    {{comparison!: The two and the quantity}}, {{test!: Method}}, {{unit!: What is counted}},
    {{n!: Number of units, type: integer, unit: "1"}}, {{estimate~: Model less reference, {NUMBER}}},
    {{ci_low~: Lower end of its interval, {NUMBER}}}, {{ci_high~: Upper end of its interval, {NUMBER}}},
    {{statistic~: Test statistic, {NUMBER}}}, {{df~: Degrees of freedom, {NUMBER}}},
    {{p_value~: Two-sided p, {NUMBER}}}, {{p_adjusted~: p after the correction, {NUMBER}}},
    {{adjustment~: Correction and family}}, {{effect_name~: Which effect size}}, {{effect~: Effect size, {NUMBER}}},
    {{effect_ci_low~: Lower end of its interval, {NUMBER}}}, {{effect_ci_high~: Upper end of its interval, {NUMBER}}},
    {{note~: "Method, guards that fired, reasons of empty fields"}}]
"""
DOCUMENT = r"""\documentclass[11pt,a4paper,DIV=11,captions=tableheading,numbers=noenddot]{scrreprt}
<< preamble >>
% source: << template >>
\csname endofdump\endcsname
\title{<< title >>}
\setcounter{totalnumber}{9}\setcounter{topnumber}{9}\renewcommand{\topfraction}{1}\renewcommand{\textfraction}{0}
\setlength{\emergencystretch}{\textwidth}
\begin{document}
<% for chapter in chapters %>
\input{chapters/<< chapter >>}
<% endfor %>
\end{document}
"""  # two pages without title page or bibliography; lines may stretch, since names of models cannot be broken
CHAPTER = r"""\chapter{What differs}\label{ch:comparison}

\section{What is asked}

<% set tests = use('comparison') %>
Do these models differ in what was measured of them? The reference is \texttt{<< REFERENCE >>}.
Each was asked the same: texts, items and settings agree by the manifests beside the measurements, and nothing is
compared where they do not.

\section{What was found}

A difference is model minus reference, with its interval; \cref{tab:comparison} has all of them, and
\cref{fig:comparison} those whose size has an interval.

ITEMS

\section{How sure this is}

All tests are one declared family, and Holm's correction is over the whole of it: a line says \emph{after correction}
where its corrected $p$ is below the usual bound, and \emph{may be chance} where it is not.
The tests speak of further texts, items or heads for these very networks. Of other trainings of the same recipe they
say nothing: for these, several seeds have to be measured.

<< table('comparison') >>

<< figure('comparison') >>
"""


def again(models: Sequence[str], experiments: Sequence[str], by: str | None, metrics: Sequence[str]) -> Comparison:
    """Return a comparison of models from their measurements in the open paper.

    `models` are names of measurements, the reference first; other arguments and errors are as of `keyquery.compare`.
    """
    from keyquery.comparisons.comparison import compare_models

    return compare_models([read(project(), name, experiments) for name in models], experiments, by=by, metrics=metrics)


def write_paper(result: Comparison, folder: Path, title: str) -> Path:
    """Write a comparison as a new paper; return the path of its PDF, `out/chapters/comparison.pdf` in the paper.

    `folder` and the errors are those of `Comparison.paper`.
    """
    root = new(folder, title).root
    for model in result.measured:
        model.copy(root, result.experiments)
    parameters = ", ".join(f"{name}: pd.DataFrame" for name in result.experiments)
    arguments = f"{result.models!r}, {result.experiments!r}, {result.by!r}, {tuple(result.metrics)!r}"
    sentence = f"{title.replace(chr(34), '')}."
    for folder_name, values in FILES.items():
        fields = dict(zip(FIELDS, values, strict=True))
        source = FILE.format(title=sentence, parameters=parameters, arguments=arguments, **fields)
        write(root / folder_name / f"{NAME}.py", source.encode())
    package, settings = root / "artifacts/datapackage.yaml", root / "paper/metadata.yaml"
    write(package, (package.read_text(encoding="utf-8") + RESOURCE).encode())
    write(settings, settings.read_text(encoding="utf-8").replace("[introduction]", f"[{NAME}]").encode())
    (root / "paper/chapters/introduction.tex.j2").unlink()
    write(root / "paper/thesis.tex.j2", DOCUMENT.encode())
    lines: list[str] = []
    for name in result.experiments:
        lines.append(rf"\paragraph{{{name.replace('_', ' ').capitalize()}}}\leavevmode")
        lines.append(r"\begin{itemize}\setlength{\itemsep}{0pt}\setlength{\parskip}{0pt}")
        lines += [_test_line(test, len(result.models) > 2) for test in result.tests if test.row.study == name]
        lines.append(r"\end{itemize}")
    reference = _cell(result.tests[0], "reference")
    chapter = CHAPTER.replace("REFERENCE", reference).replace("ITEMS", "\n".join(lines))
    write(root / f"paper/chapters/{NAME}.tex.j2", chapter.encode())
    return _build_chapter(root)


def _row_arguments(test: TestedQuantity) -> str:
    """Return the arguments with which a chapter selects the row of a test."""
    cells = {"experiment": test.row.study, "quantity": test.quantity.label, "model": test.models[1]}
    return ", ".join(f"{name}={cell!r}" for name, cell in cells.items())


def _cell(test: TestedQuantity, column: str) -> str:
    """Return the expression with which a chapter reads a cell of a test's row."""
    return f"n('{NAME}', {_row_arguments(test)}, value='{column}')"


def _test_line(test: TestedQuantity, with_model: bool) -> str:
    """Return a line of the chapter about one test; each number and name in it is a cell of the result."""
    unit = f" (<< {_cell(test, 'values_in')} >>)" if test.quantity.unit else ""
    model_phrase = f"of \\texttt{{<< {_cell(test, 'model')} >>}} " if with_model else ""
    model, reference = (f"<< {_cell(test, name)} | significant(3) >>" for name in ("model_mean", "reference_mean"))
    row = f"tests({_row_arguments(test)})"
    verdict = f"; << 'after correction' if {row}.p_adjusted < 0.05 else 'may be chance' >>"
    return (
        f"\\item << {_cell(test, 'quantity')} >>{unit} {model_phrase}is {model} against {reference} "
        f"over << {_cell(test, 'n')} >> units: "
        f"<< {row} | significant(3) >>{verdict if test.row.p_adjusted is not None else ''}."
    )


def _build_chapter(root: Path) -> Path:
    """Build the chapter as a PDF with the paper's own command line, and return its path."""
    command = [sys.executable, "-m", "boundpaper", "chapter", NAME]
    environment = {**os.environ, VARIABLE: str(root)}
    process = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, encoding="utf-8")
    if process.returncode:
        raise ThesisError(f"{root}: the paper has no PDF yet: {process.stderr.strip().removeprefix('error: ')}")
    return root / process.stdout.strip()
