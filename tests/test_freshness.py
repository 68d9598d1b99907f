"""A change of data, code, engine, templates or schema makes exactly the dependent steps of the thesis out of date."""

import re
import shutil

import pytest

from boundpaper.build.facts import FactReader
from boundpaper.build.graph import load
from boundpaper.paper import metadata
from conftest import copy_project, run


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return a copy of the project in which two tables have been built. Tests must not change it."""
    root = copy_project(tmp_path_factory.mktemp("original") / "project")
    assert run(root, "table", "ap_drop", "models").returncode == 0
    return root


@pytest.fixture
def built(original, tmp_path):
    """Return a copy of `original` that a test may change."""
    return shutil.copytree(original, tmp_path / "project")


def due_steps(root, target="table:ap_drop") -> set[str]:
    """Return the steps that `why` lists as out of date with a direct reason."""
    lines = run(root, "why", target).stdout.splitlines()
    return {line.partition(": ")[0] for line in lines if ": perhaps" not in line and "up to date" not in line}


def edit(root, path, old, new):
    text = (root / path).read_text()
    assert re.search(old, text), path
    (root / path).write_text(re.sub(old, new, text, count=1))


def test_touching_every_file_builds_nothing(built):
    for path in built.rglob("*"):
        if path.is_file() and "out" not in path.relative_to(built).parts[:1]:
            path.touch()
    assert due_steps(built) == set()


@pytest.mark.parametrize(
    ("path", "old", "new", "steps"),
    [
        ("artifacts/sources/reported_plasticity.csv", "0.6224", "0.6225", {"source:reported_plasticity"}),
        ("tables/benchmarks/ap_drop.py", "$", "\n# a remark\n", {"table:ap_drop"}),
        ("packages/boundpaper/src/boundpaper/tables/templates/table.tex.j2", "$", "<# a remark #>", {"table:ap_drop"}),
        ("packages/boundpaper/src/boundpaper/tables/latex.py", "$", "\n# a remark\n", {"table:ap_drop"}),
        ("packages/boundpaper/src/boundpaper/figures/render.py", "$", "\n# a remark\n", set()),
        ("paper/chapters/introduction.tex.j2", "$", "\nMore.\n", set()),
    ],
)
def test_only_dependents_of_a_change_are_due(built, path, old, new, steps):
    edit(built, path, old, new)
    due = due_steps(built)
    assert steps <= due
    assert bool(due) == bool(steps)


def test_changed_statistics_make_the_studies_that_use_them_due(built):
    edit(built, "packages/boundpaper/src/boundpaper/statistics/correlations/correlation.py", "$", "\n# a remark\n")
    assert "result:lbp_correlations" in due_steps(built, "table:ap_drop")


def test_comment_in_a_study_runs_it_and_rebuilds_no_dependent(built):
    edit(built, "analysis/studies/crossmodel/models.py", "$", "\n# a remark\n")
    before = (built / "out/tables/ap_drop.tex").stat().st_mtime_ns
    assert run(built, "table", "ap_drop").returncode == 0
    assert (built / "out/tables/ap_drop.tex").stat().st_mtime_ns == before
    assert due_steps(built) == set()


def test_a_changed_number_reaches_the_table_and_the_result(built):
    edit(built, "artifacts/sources/reported_mechanistic.csv", "0.068", "0.069")
    edit(built, "artifacts/sources/reported_plasticity.csv", "(?m)^(ministral3-14b,ap_drop,)0.068", r"\g<1>0.069")
    assert "0.069" in run(built, "table", "ap_drop").stdout
    assert "0.069" in (built / "artifacts/results/captured_models.csv").read_text()


def test_an_edited_result_is_computed_again(built):
    path = built / "artifacts/results/captured_models.csv"
    before = path.read_text()
    path.write_text(before.replace("0.6224", "0.7224"))
    result = run(built, "table", "ap_drop")
    assert "artifacts/results/captured_models.csv changed since it was last built" in result.stderr
    assert path.read_text() == before


def test_every_artifact_and_exhibit_is_used(built_project):
    graph = load(built_project, FactReader(built_project, built_project / "out/state/facts.json"))
    assert not graph.faults
    assert not [step.key for step in graph.steps.values() if step.fault]
    thesis = set(graph.order(["thesis:thesis"]))
    exhibits = {key for key, step in graph.steps.items() if step.kind.name in ("table", "figure")}
    supplement = set(metadata.read(built_project).supplement)
    assert {key.partition(":")[2] for key in exhibits - thesis} == supplement, "exhibits in no chapter must be declared"
    results = {step.targets[0] for step in graph.steps.values() if step.kind.artifact and step.targets}
    stale = {f"artifacts/results/{path.name}" for path in (built_project / "artifacts/results").glob("*.csv")} - results
    assert not stale, f"results without a study: {sorted(stale)}"
