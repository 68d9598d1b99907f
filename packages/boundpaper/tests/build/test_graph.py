"""The graph: steps found in source text, their dependencies and inputs, and reported faults."""

from pathlib import Path

import pytest

from boundpaper.build.facts import FactReader, python_facts
from boundpaper.build.graph import load
from boundpaper.errors import SpecError

ENGINE = "packages/boundpaper/src/boundpaper"


@pytest.fixture
def write(tmp_path):
    def put(path: str, text: str = "") -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    put("artifacts/sources/scores.csv", "model,printed\n")
    put(
        "analysis/studies/means.py",
        "def mean_score(scores):\n    '''Mean.\n\n    More.'''\n\ndef _other(x):\n    pass\n",
    )
    put("tables/means.py", "from boundpaper.tables import Table\ndef table(mean_score, digits=2): ...\n")
    put(f"{ENGINE}/tables/__init__.py", "from boundpaper.tables.spec import Table\n")
    put(f"{ENGINE}/tables/spec.py", "import json\n")
    put("figures/means.py", "def figure(mean_score): ...\n")
    for path in ("tables/templates/table.tex.j2", "paper/calls.py", "paper/document.py"):
        put(f"{ENGINE}/{path}")
    put("paper/chapters/one.tex.j2", "<< n('mean_score') >> << table('means') >> << figure('means') >>")
    return put


def load_graph(root: Path):
    return load(root, FactReader(root, root / "out/state/facts.json"))


def test_graph_finds_steps_with_their_needs_and_targets(tmp_path, write):
    steps = load_graph(tmp_path).steps
    assert steps["result:mean_score"].needs == ("source:scores",)
    assert steps["result:mean_score"].doc == "Mean."
    assert steps["table:means"].artifacts == {"mean_score": "artifacts/results/mean_score.csv"}
    assert steps["table:means"].needs == ("result:mean_score",)
    assert steps["table:means"].targets == ("out/tables/means.tex",)
    assert steps["picture:means"].needs == ("figure:means",)
    assert steps["chapter:one"].needs == ("result:mean_score",)
    assert set(steps["thesis:thesis"].needs) == {"chapter:one", "table:means", "figure:means", "picture:means"}


def test_inputs_of_a_step_are_its_file_imports_and_templates(tmp_path, write):
    inputs = load_graph(tmp_path).steps["table:means"].inputs
    engine = {f"{ENGINE}/tables/{name}" for name in ("__init__.py", "spec.py", "templates/table.tex.j2")}
    assert {"tables/means.py", *engine} <= set(inputs)
    assert "figures/means.py" not in inputs


def test_order_puts_needs_first(tmp_path, write):
    order = load_graph(tmp_path).order(["table:means"])
    assert order == ["source:scores", "result:mean_score", "table:means"]


def test_an_unknown_artifact_names_the_nearest(tmp_path, write):
    write("tables/typo.py", "def table(mean_scores): ...\n")
    fault = load_graph(tmp_path).steps["table:typo"].fault
    assert fault.startswith("tables/typo.py:1: table:typo reads 'mean_scores', but no artifact has this name")
    assert "did you mean mean_score" in fault


def test_a_clash_of_names_and_two_definitions_are_faults(tmp_path, write):
    write("analysis/studies/other.py", "def scores(mean_score): ...\n")
    assert "the artifact name 'scores' is taken by artifacts/sources/scores.csv" in load_graph(tmp_path).faults[0]
    write("analysis/studies/other.py", "def mean_score(scores): ...\n")
    assert "result:mean_score is also defined in analysis/studies/means.py" in load_graph(tmp_path).faults[0]


def test_steps_in_subfolders_are_found_and_helper_modules_are_not(tmp_path, write):
    before = set(load_graph(tmp_path).steps)
    write("tables/sinks/rates.py", "def table(mean_score): ...\n")
    write("analysis/studies/sinks/deep/layers.py", "def sink_layers(scores): ...\n")
    for path in (f"{ENGINE}/tables/fill.py", "tables/sinks/_shared.py", "tables/sinks/__init__.py", "tables/.x/y.py"):
        write(path, "def table(mean_score): ...\n")
    graph = load_graph(tmp_path)
    assert set(graph.steps) - before == {"table:rates", "result:sink_layers"}
    assert graph.steps["table:rates"].file == "tables/sinks/rates.py"
    assert graph.steps["table:rates"].targets == ("out/tables/rates.tex",)
    assert graph.steps["result:sink_layers"].file == "analysis/studies/sinks/deep/layers.py"


def test_two_exhibits_of_one_name_in_two_folders_are_an_error(tmp_path, write):
    write("tables/lab/means.py", "def table(mean_score): ...\n")
    graph = load_graph(tmp_path)
    message = "tables/means.py:2: table:means is also defined in tables/lab/means.py"
    assert message in graph.faults
    assert message in graph.steps["table:means"].fault  # prevents building it


def test_circular_dependency_is_reported_with_its_steps(tmp_path, write):
    write("analysis/studies/ring.py", "def one(two): ...\ndef two(one): ...\n")
    with pytest.raises(SpecError, match="result:one -> result:two -> result:one"):
        load_graph(tmp_path).order(["result:one"])


def test_a_syntax_error_is_a_fault_with_its_line(tmp_path, write):
    write("tables/broken.py", "def table(:\n")
    graph = load_graph(tmp_path)
    assert "tables/broken.py: line 1" in graph.faults[0]
    assert "tables/broken.py: line 1" in graph.steps["table:broken"].fault


def test_table_file_without_table_function_is_a_fault(tmp_path, write):
    write("tables/empty.py", "x = 1\n")
    assert "tables/empty.py: no function table()" in load_graph(tmp_path).steps["table:empty"].fault


def test_chapter_that_cites_an_unknown_exhibit_is_a_fault(tmp_path, write):
    write(
        "paper/chapters/two.tex.j2",
        "a\n<< table('mean') >>\n<< claim('x') >>\n<< n('mean_scor') >>\n"
        "<< supplement('table/mean') >> << supplement('means') >>",
    )
    fault = load_graph(tmp_path).steps["chapter:two"].fault
    assert "paper/chapters/two.tex.j2:2: no table called 'mean'; did you mean means" in fault
    assert "paper/chapters/two.tex.j2:3: no claim called 'x'" in fault
    assert "paper/chapters/two.tex.j2:4: chapter:two reads 'mean_scor'" in fault
    assert "paper/chapters/two.tex.j2:5: no table called 'mean'; did you mean means" in fault
    assert "paper/chapters/two.tex.j2:5: supplement('means'): write 'table/NAME' or 'figure/NAME'" in fault


def test_measurements_of_an_experiment_are_one_artifact(tmp_path, write):
    write("artifacts/measurements/sinks/tiny.csv", "a\n")
    write("tables/sinks.py", "def table(sinks): ...\n")
    step = load_graph(tmp_path).steps["table:sinks"]
    assert step.artifacts == {"sinks": "artifacts/measurements/sinks"}
    assert "artifacts/measurements/sinks/tiny.csv" in step.inputs


def test_find_suggests_and_disambiguates(tmp_path, write):
    graph = load_graph(tmp_path)
    assert graph.find("means", ["table"]).key == "table:means"
    assert graph.find("figure:means", ["table", "figure"]).key == "figure:means"
    with pytest.raises(SpecError, match="write one of table:means, figure:means"):
        graph.find("means", ["table", "figure"])
    with pytest.raises(SpecError, match="did you mean means"):
        graph.find("mean", ["table"])


def test_cached_facts_of_a_file_are_updated_when_its_text_changes(tmp_path, write):
    load_graph(tmp_path)
    cached = (tmp_path / "out/state/facts.json").read_text()
    write("tables/means.py", "def table(scores): ...\n")
    assert load_graph(tmp_path).steps["table:means"].artifacts == {"scores": "artifacts/sources/scores.csv"}
    assert (tmp_path / "out/state/facts.json").read_text() != cached
    (tmp_path / "out/state/facts.json").write_text("{")
    assert "table:means" in load_graph(tmp_path).steps


def test_facts_of_a_function_cover_every_kind_of_parameter():
    facts = python_facts("def f(a, /, b, c=1, *, d, e=2): ...")["functions"][0]
    assert facts["artifacts"] == ["a", "b", "d"]
    assert facts["options"] == ["c", "e"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("analysis/claims/odd.py", "def a_claim(:\n"),
        ("analysis/claims/thesis/odd.py", "    x = 1\n"),
        ("analysis/claims/odd.py", "x = '\n"),
        ("analysis/studies/odd.py", "def a_result(scores)\n"),
    ],
)
def test_step_that_gathers_a_kind_fails_when_a_file_of_it_is_unreadable(file, content, tmp_path, write):
    """If the step did not fail, the ledger would silently contain fewer claims than exist."""
    for name in ("claims/ledger.py", "build/provenance.py"):
        write(f"{ENGINE}/{name}")
    write(file, content)
    loaded = load_graph(tmp_path)
    gathering = "ledger:claims" if "claims" in file else "inventory:provenance"
    assert loaded.steps[gathering].fault.startswith(f"{file}: line 1: ")
    assert loaded.steps["table:means"].fault == ""
    write(file)
    assert load_graph(tmp_path).steps[gathering].fault == ""
