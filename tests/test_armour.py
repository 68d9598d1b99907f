"""Data are never interpreted as markup: names that contain a payload are escaped in every exhibit."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from boundpaper.build.job import Job
from boundpaper.errors import DataError, SpecError
from boundpaper.store import reader as store
from boundpaper.typeset import armour
from boundpaper.typeset.text import escape, prose
from claims_memory import exhibit_job, graph
from conftest import ROOT

PAYLOAD = r"$\immediate\pdfobj stream file{/etc/passwd}$ <script>alert(1)</script> *[@x] ^^5cinput"
SHORT = r"$\pdfobj$*^^5c"  # a figure has less space
TEXT = re.compile(r"^[^:;]*(?: |[A-Z]\w*-)[^:;]*$")  # neither a key nor a list of reasons by field
LIVE = re.compile(r"\\immediate|\\pdfobj|\^\^|\\citep\{x")
NAMES = ("display_name", "statement")
GRAPH = graph()


def exhibits_with_names(kind):
    """Return the names of the exhibits that read an artifact with a column of `NAMES`."""
    names = []
    for step in GRAPH.steps.values():
        if step.kind.name == kind and any(
            set(NAMES) & set(store.read(ROOT, table).columns) for table in step.artifacts
        ):
            names.append(step.name)
    return sorted(names)


@pytest.fixture(scope="module")
def attacked():
    """Return a function that makes an exhibit from artifacts whose names contain the payload."""
    patch, payload = pytest.MonkeyPatch(), [PAYLOAD]

    def read(root, name, stored_read=store.read):
        frame = stored_read(root, name)
        for column in set(NAMES) & set(frame.columns):
            frame[column] = [f"{cell} {payload[0]}" if TEXT.search(cell) else cell for cell in frame[column]]
        return frame

    patch.setattr(store, "read", read)

    def spec(kind, name):
        payload[0] = PAYLOAD if kind == "table" else SHORT
        return exhibit_job(ROOT, kind, name).call()

    yield spec
    patch.undo()


@pytest.mark.parametrize("name", exhibits_with_names("table"))
def test_payload_in_data_is_escaped_in_a_table(name, attacked):
    from boundpaper.tables.render import render

    table = attacked("table", name)
    latex = render(table, name, "latex")
    assert not LIVE.search(latex)
    for form in ("markdown", "html"):
        assert not re.search(r"(?<!\\)<script", render(table, name, form))
    for form in ("latex", "markdown", "html", "csv", "json"):
        assert not armour.is_armoured(render(table, name, form))


@pytest.mark.parametrize("name", exhibits_with_names("figure"))
def test_payload_in_data_is_escaped_in_a_figure(name, attacked):
    from boundpaper.figures.render import float_tex, tex

    figure = replace(attacked("figure", name), columns=1)  # space for the longer names
    for latex in (tex(figure, name).partition(r"\begin{document}")[2], float_tex(figure, name)):
        assert not LIVE.search(latex)
        assert not armour.is_armoured(latex)


def test_payload_reaches_the_exhibit_escaped(attacked):
    from boundpaper.figures.render import tex
    from boundpaper.tables.render import render

    assert r"\$\textbackslash{}immediate\textbackslash{}pdfobj" in render(attacked("table", "ap_drop"), "ap_drop")
    assert r"\$\textbackslash{}pdfobj\$" in tex(attacked("figure", "ap_drop_lbp"), "ap_drop_lbp")


@pytest.mark.parametrize("form", ["latex", "markdown", "html"])
def test_armoured_text_in_prose_equals_its_escaped_text(form):
    assert prose(f"n of {armour.armoured(PAYLOAD)}", form) == escape(f"n of {PAYLOAD}", form)
    assert prose(f"*{armour.armoured('a*b')}* $x$", "latex") == r"\emph{a{*}b} $x$"


def test_armour_is_removed_for_data_and_quoted_for_prose():
    wrapped = armour.armoured(r"a$b\c")
    assert armour.plain(wrapped) == r"a$b\c"
    assert armour.quoted(wrapped) == r"a\$b\\c"
    assert prose(armour.quoted(wrapped), "html") == r"a$b\c"


def test_armoured_frame_leaves_the_stored_frame_unchanged():
    data = pd.DataFrame({"a": ["x", "$y$"], "b": [1.0, 2.0], "c": ["p", "q"]})
    armoured = armour.frame(data)
    assert armour.is_armoured(armoured["a"][1])
    assert data["a"][1] == "$y$"
    assert armoured["a"][0] == "x"
    assert list(armoured["c"]) == ["p", "q"]


def test_data_that_contain_armour_characters_are_refused():
    with pytest.raises(DataError, match="private-use character"):
        armour.armoured(armour.armoured("$"))


@pytest.mark.parametrize("kind", ["result", "claim", "ledger"])
def test_studies_and_claims_read_unarmoured_data(kind, monkeypatch):
    monkeypatch.setattr(store, "read", lambda root, name: pd.DataFrame({"a": ["0.645*"]}))
    assert Job(ROOT, kind, "x", "x.py", artifacts={"t": ""}).frames()["t"]["a"][0] == "0.645*"


@pytest.mark.parametrize("formula", [r"\pdfobj", r"\immediate x", r"\input{a}", r"\csname x", "^^5cinput", r"x\@y"])
def test_formula_with_non_mathematical_commands_is_refused(formula):
    for form in ("latex", "markdown", "html"):
        with pytest.raises(SpecError):
            prose(f"${formula}$", form)


def test_data_inside_a_formula_are_refused():
    with pytest.raises(SpecError, match="has text from the data"):
        prose(f"$n = {armour.armoured('^2')}$", "latex")


def test_markdown_formula_contains_no_html_tag():
    assert prose("$p <script>x</script> < .05$", "markdown") == r"$p \lt script>x\lt /script> < .05$"


@pytest.mark.parametrize(
    "body", [r"\immediate\pdfobj stream file{x}", r"a \input{x}", r"\openin1=x", "^^5cinput", r"\\\input x"]
)
def test_latex_that_accesses_files_is_refused(body):
    with pytest.raises(SpecError, match="figure f"):
        armour.guarded_latex(f"\\begin{{document}}{body}", "figure f")


def test_harmless_latex_that_resembles_file_access_is_accepted():
    for body in (r"a \\input tokens", r"\inputs", r"\includegraphics{x}", r"\textbackslash{}input"):
        assert armour.guarded_latex(body, "table t") == body


def test_unescaped_data_in_latex_are_refused():
    with pytest.raises(SpecError, match=r"'\$' from the data is not escaped in its LaTeX"):
        armour.guarded_latex(armour.armoured("$"), "figure f")


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "+1+1", "@SUM(1)", "-2+3"])
def test_csv_output_contains_no_executable_spreadsheet_cell(cell):
    from boundpaper.tables import Column, Table
    from boundpaper.tables.render import render

    table = Table(rows=pd.DataFrame({"a": [cell, "-39%"]}), columns=[Column("a", "A")], caption="A table.")
    lines = render(table, "t", "csv").splitlines()
    assert lines[1].strip('"') == f"'{cell}"
    assert lines[2] == "-39%"
