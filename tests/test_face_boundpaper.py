"""Public names of boundpaper: `import boundpaper as bp`."""

import importlib
from typing import Any

import pandas as pd
import pytest

import boundpaper as bp
from boundpaper.build.closure import Closures
from boundpaper.build.facts import FactReader
from boundpaper.store.files import write
from faces import described, explains_itself, loaded_by, public, quick_start, run_examples, undescribed, untyped


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)


@pytest.mark.parametrize("name", bp.__all__)
def test_every_name_has_an_example_that_runs(name):
    assert run_examples(bp, name)
    assert undescribed(name, getattr(bp, name)) + untyped(name, getattr(bp, name)) == []


@pytest.mark.parametrize(("module", "name"), public("boundpaper"))
def test_every_name_of_a_public_module_has_described_parameters_and_an_example(module, name):
    member = getattr(importlib.import_module(module), name)
    assert undescribed(name, member) + untyped(name, member) == []
    if name not in bp.__all__ and explains_itself(member):
        assert run_examples(importlib.import_module(module), name)


def test_missing_parameter_of_a_docstring_is_found():
    class Bean:
        """A bean.

        Attributes
        ----------
        lamp, day : str
            Lamp under which the bean grew, and its last day.
        """

        def __init__(self, lamp, day, height):
            pass

        def turn(self, angle):
            """Turn the bean by an angle."""

    assert undescribed("Bean", Bean) == ["Bean(height)", "Bean.turn(angle)"]
    assert undescribed("len", [].append) == []
    assert described(bp.Line) >= {"x", "low", "entity"}, "a base class describes inherited parameters"


def test_missing_type_annotation_is_found():
    class Bean:
        lamp: dict[str, Any]
        day: int
        _height: Any

        def grown(self, days: int, water) -> None: ...

        @property
        def pod(self): ...

    Bean.__module__ = "boundpaper.beans"
    assert untyped("Bean", Bean) == ["Bean.lamp", "Bean.grown(water)", "Bean.pod(return)"]
    assert untyped("bean", Bean()) == ["bean.lamp", "bean.grown(water)", "bean.pod(return)"]


def test_importing_boundpaper_loads_no_heavy_package(tmp_path):
    assert not loaded_by("import boundpaper", tmp_path) & {"pandas", "numpy", "yaml", "jinja2", "scipy", "ast"}
    assert "pandas" not in loaded_by("import boundpaper as bp; bp.Table, bp.Figure, bp.fixed, bp.open", tmp_path)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(AttributeError, match=r"'Tabel'; did you mean Table"):
        getattr(bp, "Tabel")  # noqa: B009
    assert not hasattr(bp, "__wrapped__")
    assert {"Table", "open", "statistics"} <= set(dir(bp))


@pytest.mark.latex
def test_the_quick_start_runs(tmp_path, capsys):
    exec(quick_start("boundpaper"), {})
    assert (tmp_path / "growth.pdf").read_bytes().startswith(b"%PDF")
    assert "18.4" in capsys.readouterr().out


@pytest.mark.latex
def test_figures_are_saved_in_every_format(tmp_path):
    heat = bp.Heatmap(values=[[row * column % 7 / 7 for column in range(60)] for row in range(60)])
    figure = bp.Figure(panels=[bp.Panel(series=[heat])], caption="Shares.")
    signatures = {"a b.pdf": b"%PDF", "é%.png": b"\x89PNG", "c_d.svg": b"<?xml", "50%.tex": rb"\pdftrailerid"}
    for name, start in signatures.items():
        assert figure.save(name).read_bytes().startswith(start)
    assert (tmp_path / "50--1.png").is_file()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_figure_is_refused_in_unsupported_formats_and_folders():
    figure = bp.Figure(panels=[bp.Panel(series=[bp.Line(x=[1, 2], y=[1, 2])])], caption="Growth.")
    with pytest.raises(bp.errors.SpecError, match=r"x\.jpg: a figure is saved as \.pdf, \.png"):
        figure.save("x.jpg")
    with pytest.raises(bp.errors.SpecError, match="create it first"):
        figure.save("none/x.pdf")


def test_tables_render_in_every_format():
    rows = pd.DataFrame({"lamp": ["sun & moon"], "height": [18.42]})
    columns = [bp.Column("lamp", "Lamp"), bp.Column("height", "h", bp.fixed(2))]
    table = bp.Table(rows=rows, columns=columns, caption="Heights.")
    assert r"sun \& moon & 18.42" in table.to_latex("heights")
    assert r"| sun \& moon | 18.42 |" in table.to_markdown()
    assert "sun &amp; moon" in table.to_html()
    assert table._repr_html_().endswith(table.to_html())


def test_a_quote_needs_printed_text():
    with pytest.raises(bp.errors.DataError, match="dtype=str"):
        bp.quote(pd.DataFrame({"lamp": ["sun"], "printed": [18.4]}), lamp="sun")
    ranged = bp.quote(pd.DataFrame({"lamp": ["sun"], "printed": ["97-100%"]}), lamp="sun")
    assert (ranged.value, ranged.interval.low, ranged.interval.high) == (None, 96.5, 100.5)


def test_lines_reports_wrong_columns_by_name():
    frame = pd.DataFrame({"day": [1, 2], "height": [3, 4], "lamp": ["sun", None]})
    with pytest.raises(bp.errors.DataError, match="'heigt' to draw; did you mean 'height'"):
        bp.lines(frame, "day", "heigt")
    with pytest.raises(bp.errors.DataError, match="'lamp' is empty in 1 rows"):
        bp.lines(frame, "day", "height", by="lamp")
    assert [line.y for line in bp.lines(frame, "day", "height", low="day")] == [(3, 4)]


def test_a_paper_is_read_checked_judged_and_traced(tmp_path):
    paper, other = bp.new("beans", title="Beans"), bp.new("peas")
    write(paper.root / "artifacts/sources/heights.csv", b"lamp,printed\nsun,18.4\nshade,3.1\n")
    package = paper.root / "artifacts/datapackage.yaml"
    entry = "- {name: heights, path: sources/heights.csv, origin: [{document: thesis, section: Results}],"
    entry += " fields: ['lamp*': which, 'printed!': cm]}\n"
    write(package, package.read_bytes() + entry.encode())
    code = (
        "from boundpaper import Verdict, claim, compare, quote\n\n\n"
        '@claim("thesis, Results")\ndef sunny(heights) -> Verdict:\n    """Beans in the sun are 18.4 cm high."""\n'
        '    return compare(quote(heights, lamp="sun"), {value}, reason="It was measured.")\n'
    )
    for value, verdict in (("18.42", "holds"), ("18.46", "contradicted")):
        write(paper.root / "analysis/claims/heights.py", code.format(value=value).encode())
        assert paper.claims()["verdict"].tolist() == [verdict]
    assert bp.quote(paper.read("heights"), lamp="shade").number == 3.1
    assert any("sources/heights.csv" in line for line in paper.trace("18.4"))
    write(paper.root / "artifacts/sources/heights.csv", b"lamp,printed\nsun,18.4\nsun,3.1\n")
    assert [(fault.row, fault.field) for fault in paper.check()] == [(3, "")]
    assert other.check() == []


def test_check_also_reads_the_settings_of_a_paper(tmp_path):
    paper = bp.new(tmp_path / "paper", title="Straw")
    metadata = paper.root / "paper/metadata.yaml"
    metadata.write_text(metadata.read_text() + "colour: green\n")
    write(paper.root / "paper/layout.yaml", b"margins: wide\n")
    messages = sorted(map(str, paper.check()))
    assert len(messages) == 2
    assert messages[0].startswith("paper/layout.yaml: ")
    assert messages[1].startswith("paper/metadata.yaml: ")


def test_step_depends_on_the_modules_of_imported_names(tmp_path):
    texts = {"one": "from boundpaper import fixed\n", "all": "import boundpaper as bp\n", "none": "import pandas\n"}
    texts |= {"test": "from boundpaper.statistics import holm\n", "tests": "from boundpaper import statistics\n"}
    for name, text in texts.items():
        write(tmp_path / f"tables/{name}.py", text.encode())
    closures = Closures(FactReader(tmp_path))
    needs = {name: {file.rpartition("boundpaper/")[2] for file in closures.of(f"tables/{name}.py")} for name in texts}
    assert "typeset/numbers.py" in needs["one"]
    assert "figures/spec.py" not in needs["one"]
    all_statistics = {"statistics/multiplicity.py", "statistics/trend.py"}
    assert {"typeset/numbers.py", "figures/spec.py", "claims/judge.py", "papers.py", *all_statistics} <= needs["all"]
    assert all_statistics & needs["test"] == {"statistics/multiplicity.py"}
    assert all_statistics <= needs["tests"]
    assert "typeset/numbers.py" not in needs["tests"]
    assert not any("boundpaper" in file for file in closures.of("tables/none.py"))
