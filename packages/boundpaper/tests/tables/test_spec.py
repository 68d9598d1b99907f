"""Valid specifications of a table, and error messages for faults."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from boundpaper.build.job import Job
from boundpaper.errors import DataError, SpecError
from boundpaper.tables import (
    Column,
    Table,
    fixed,
    integer,
    interval,
    markup,
    printed,
    pvalue,
    scientific,
    text,
    uncertain,
)
from boundpaper.tables.build import build
from boundpaper.tables.read import read
from boundpaper.tables.render import render
from boundpaper.tables.template import fill_template


def frame(**changes: object) -> pd.DataFrame:
    data: dict[str, object] = {
        "model": ["A-1B", "B-2B", "C-3B"],
        "lbp": [45.25, 12.0, 7.5],
        "lo": [40.0, 10.0, 7.0],
        "hi": [50.0, 14.0, 8.0],
        "p": [0.004, 0.2, 0.04],
        "why": ["", "", ""],
        "mark": ["", "", ""],
    }
    return pd.DataFrame(data | changes)


def table(*columns: Column, rows: pd.DataFrame | None = None, **options: object) -> Table:
    shown = columns or (Column("model", "Model"), Column("lbp", "LBP", fixed(1)))
    return Table(rows=frame() if rows is None else rows, columns=shown, **({"caption": "A caption."} | options))


LBP = Column("lbp", "LBP", fixed(1))
SPEC_FAULTS: list[tuple[Callable[[], Table], str]] = [
    (
        lambda: table(Column("lpb", "LBP", fixed(1))),
        r"table t: column 'LBP' reads 'lpb'.*did you mean 'lbp'.*model, lbp",
    ),
    (lambda: table(Column("lbp", "LBP", fixed(1), ci=("low", "hi"))), "reads 'low'"),
    (lambda: table(groups="family"), "table t: table reads 'family'"),
    (lambda: table(LBP, LBP), "shows the field 'lbp' in two columns"),
    (lambda: Table(rows=frame(), columns=[], caption="x"), "no columns"),
    (lambda: table(rows=frame().iloc[:0]), "no rows"),
    (lambda: table(caption=" "), "no caption"),
    (lambda: table(caption="costs 5$"), r"table t, caption: unbalanced"),
    (lambda: table(note="a *b"), r"table t, note: unbalanced"),
    (lambda: table(marks={"m": "$x{$"}), r"table t, mark 'm': .*braces"),
    (lambda: table(Column("lbp", "*LBP", fixed(1))), "title of 'lbp': unbalanced"),
    (lambda: table(rows=pd.concat([frame(), frame()[["lbp"]]], axis=1)), "two columns named 'lbp'"),
    (lambda: table(Column("lbp", "LBP", fixed(1), best="max")), "best needs uncertainty= or ci="),
    (lambda: table(Column("lbp", "LBP", fixed(1), ci=("lo", "hi"), best="top")), "best must be 'max' or 'min'"),
    (lambda: table(Column("lbp", "LBP", fixed(1), ci=("lo", "hi"), uncertainty="lo")), "both uncertainty= and ci="),
    (lambda: table(Column("lbp", "LBP", uncertain())), "names neither"),
    (lambda: table(Column("lbp", "LBP", scientific(1), ci=("lo", "hi"))), "cannot have uncertainty= or ci=: scale"),
    (lambda: table(Column("p", "p", pvalue(), ci=("lo", "hi"))), "pvalue cannot have uncertainty="),
    (lambda: table(Column("model", "M", ci=("lo", "hi"))), "is a text column, which cannot have"),
    (lambda: table(Column("lbp", "LBP", interval(1))), "give the estimate and ci="),
    (lambda: table(Column("lbp", "LBP", fixed(1), width=0.3)), "width= makes a paragraph"),
    (lambda: table(Column("model", "M", width=1.5)), "fraction of the line"),
    (lambda: table(Column("model", "M", width="30")), "width must be a number with mm"),
    (lambda: table(Column("model", "M", align="middle")), "'left', 'right' or 'center'"),
    (lambda: table(Column("lbp", "LBP")), "has floats but no format"),
    (lambda: table(Column("why", "x"), rows=frame(why=["a", 1, "b"])), "mixes text and numbers"),
    (
        lambda: table(Column("lbp", "LBP", fixed(1), title_mark="ck"), marks={"check": "x"}),
        "'ck' is not explained.*'check'",
    ),
    (
        lambda: table(Column("model", "M", mark="mark"), rows=frame(mark=["", "ck", ""]), marks={"check": "x"}),
        r"row 2 \(B-2B\): the mark 'ck' of field 'mark' is not explained.*did you mean 'check'",
    ),
    (lambda: table(group_style="line"), "'row' or 'rule'"),
    (lambda: table(size="huge"), "one of small, footnotesize, scriptsize"),
    (lambda: table(levels=(0.01, 0.05)), "levels must be between 0 and 1"),
    (lambda: table(space=4), "space must be 1"),
    (lambda: table(space="kind"), "reads 'kind', but rows has no such column"),
    (lambda: table(Column("model", "M", markup), rows=frame(model=["a$", "b", "c"])), "column 'M', row 1: unbalanced"),
]


@pytest.mark.parametrize(("make", "message"), SPEC_FAULTS)
def test_faulty_specification_is_refused_with_the_table_name(make: Callable[[], Table], message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        render(make(), "t")
    assert "table t" in str(caught.value)


DATA_FAULTS: list[tuple[Callable[[], Table], str]] = [
    (
        lambda: table(rows=frame(lbp=[1.0, None, 2.0])),
        r"table t, column 'LBP' \(lbp\), row 2 \(B-2B\) is empty without a reason",
    ),
    (lambda: table(rows=frame(model=["A", " ", "C"])), r"row 2 is empty without a reason"),
    (lambda: table(rows=frame(lbp=[1.0, math.inf, 2.0])), r"row 2 \(B-2B\): lbp is inf"),
    (lambda: table(rows=frame(lbp=["1.0", 2.0, 3.0])), r"row 1 \(A-1B\) is the text '1.0', but the column has numbers"),
    (lambda: table(rows=frame(lbp=[True, False, True])), "is True, which is not a number"),
    (lambda: table(Column("lbp", "LBP", text), rows=frame(lbp=[1.0, math.inf, 2.0])), "row 2 .*is inf"),
    (lambda: table(Column("lbp", "LBP", fixed(1), ci=("hi", "lo"))), r"\[50.0, 40.0\], with the ends in the wrong"),
    (
        lambda: table(Column("lbp", "LBP", fixed(1), uncertainty="lo"), rows=frame(lo=[1, -1, 1])),
        "negative uncertainty -1",
    ),
    (
        lambda: table(Column("lbp", "LBP", fixed(1), uncertainty="lo"), rows=frame(lo=[1, None, 1])),
        "has a value but no lo",
    ),
    (lambda: table(Column("lbp", "LBP", uncertain(), uncertainty="lo"), rows=frame(lo=[0, 0, 0])), "the precision is"),
    (lambda: table(Column("lbp", "LBP", fixed(1), p="p"), rows=frame(p=[0.1, 1.2, 0.3])), r"row 2.*between 0 and 1"),
    (lambda: table(Column("p", "p", pvalue()), rows=frame(p=[0.1, 1.2, 0.3])), r"row 2.*between 0 and 1"),
    (lambda: table(Column("lbp", "LBP", printed())), "text of a document"),
    (lambda: table(rule_before="lbp"), "true or false"),
    (lambda: table(rows=frame(model=["漢", "b", "c"])), "column 'Model', row 1: .*U\\+6F22"),
]


@pytest.mark.parametrize(("make", "message"), DATA_FAULTS)
def test_faulty_data_are_refused_with_the_table_named(make: Callable[[], Table], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        render(make(), "t")
    assert "table t" in str(caught.value)


def test_format_of_a_column_is_inferred_from_its_values() -> None:
    rows = frame(n=[1, 2048, 3], half=[1.0, None, 3.0], yes=[True, False, True])
    columns = Column("model", "M"), Column("n", "N"), Column("half", "H", missing="none"), Column("yes", "Y")
    grid = read(table(*columns, rows=rows), "t")
    assert [column.show for column in grid.columns] == [text, integer(), integer(), text]
    assert [cell.words for cell in grid.rows[1]][3] == "no"


def test_reason_for_a_missing_cell_comes_from_field_table_or_column() -> None:
    rows = frame(lbp=[None, None, None], lo=[None, 1, 2], why=["lbp: not run; lo: not run either", "no scores", ""])
    columns = Column("lbp", "LBP", fixed(1), missing="one seed"), Column("lo", "Low", fixed(1))
    grid = read(table(*columns, rows=rows, reason="why"), "t")
    assert [row[0].reason for row in grid.rows] == ["not run", "no scores", "one seed"]
    assert grid.rows[0][1].reason == "not run either"


def test_best_is_bold_only_when_distinguishable() -> None:
    column = Column("lbp", "LBP", fixed(1), ci=("lo", "hi"), best="max")
    assert [row[0].is_best for row in read(table(column), "t").rows] == [True, False, False]
    touching = frame(lo=[13.0, 10, 7])
    assert not any(row[0].is_best for row in read(table(column, rows=touching), "t").rows)
    smallest = Column("lbp", "LBP", fixed(1), uncertainty="sd", best="min")
    rows = frame(sd=[1.0, 1.0, 1.0])
    assert [row[0].is_best for row in read(table(smallest, rows=rows), "t").rows] == [False, False, True]
    unknown = frame(sd=[1.0, None, 1.0])
    reasoned = Column("lbp", "LBP", fixed(1), uncertainty="sd", best="min", missing="one seed")
    assert not any(row[0].is_best for row in read(table(reasoned, rows=unknown), "t").rows)


def test_best_is_judged_within_groups() -> None:
    rows = frame(task=["x", "x", "y"])
    column = Column("lbp", "LBP", fixed(1), ci=("lo", "hi"), best="max")
    grid = read(table(Column("model", "M"), column, rows=rows, groups="task"), "t")
    assert [row[1].is_best for row in grid.rows] == [True, False, False]


def test_shared_precision_is_used_only_when_uncertainties_agree() -> None:
    rows = frame(sd=[1.2, 0.34, 0.99])
    column = Column("lbp", "LBP", uncertain(), uncertainty="sd")
    csv = render(table(column, rows=rows), "t", "csv")
    assert csv.splitlines()[1] == "45.25,1.2"
    latex = render(table(column, rows=rows), "t")
    assert [r"45.25\,$\pm$\,1.20" in latex, r"12.00\,$\pm$\,0.34" in latex] == [True, True]
    separate = render(table(column, rows=frame(sd=[12.0, 0.34, 0.99])), "t")
    assert r"45\phantom{.00}\,$\pm$\,12\phantom{.00}" in separate


def _job(tmp_path: Path, body: str) -> Job:
    (tmp_path / "tables").mkdir(exist_ok=True)
    (tmp_path / "t_example.py").write_text(body)
    return Job(root=tmp_path, kind="table", name="example", file="t_example.py", function="table")


def test_build_writes_latex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "t_example", raising=False)
    body = (
        "import pandas as pd\nfrom boundpaper.tables import Column, Table, fixed\ndef table() -> Table:\n    rows = "
        "pd.DataFrame({'name': ['a', 'b'], 'x': [1.0, 2.5]})\n    return Table(rows=rows, columns=[Column('name', "
        "'Name'), Column('x', 'X', fixed(1))], caption='Two.')\n"
    )
    files = build(_job(tmp_path, body))
    assert list(files) == ["out/tables/example.tex"]
    assert "\\label{tab:example}" in files["out/tables/example.tex"]


def test_build_names_what_table_returned_instead_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "t_example", raising=False)
    with pytest.raises(SpecError, match=r"t_example.py: table\(\) returned dict, not a Table"):
        build(_job(tmp_path, "def table():\n    return {}\n"))


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(SpecError, match=r"'markdwon': use one of .*; did you mean 'markdown'"):
        render(table(), "t", "markdwon")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("a\n<< absent >>\n", r"tables/templates/x.j2:2: 'absent' is undefined \(table t\)"),
        ("a\nb\n<% if %>\n", r"tables/templates/x.j2:3: "),
        ("a\n<< 1 + 'b' >>\n", r"tables/templates/x.j2:2: unsupported operand"),
        (None, r"tables/templates/x.j2: no such template"),
    ],
)
def test_template_faults_name_file_and_line(tmp_path: Path, template: str | None, message: str) -> None:
    if template is not None:
        (tmp_path / "x.j2").write_text(template)
    with pytest.raises(SpecError, match=message):
        fill_template("x.j2", "t", tmp_path)


def test_importing_tables_loads_no_heavy_package() -> None:
    code = "import sys, boundpaper.tables; print(sorted({'pandas', 'numpy', 'jinja2', 'yaml'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
