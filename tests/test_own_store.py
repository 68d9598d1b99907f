"""Checks of the thesis' tables: a table without rows, and a missing row to which many tables refer."""

from boundpaper.store.schema import check
from conftest import run


def test_empty_table_is_allowed_only_with_an_awaits_property(project):
    table = project / "artifacts/measurements/population_models/population.csv"
    table.write_text(table.read_text().splitlines()[0] + "\n")
    table.with_suffix(".json").unlink()
    assert any("a header but no rows" in str(fault) for fault in check(project, "population_models"))
    schema = project / "artifacts/datapackage.yaml"
    entry = "- name: population_models\n"
    schema.write_text(schema.read_text().replace(entry, entry + "  awaits: models that are not trained yet\n"))
    assert not list(check(project, "population_models"))


def test_many_faults_of_one_missing_row_are_abbreviated(project):
    models = project / "artifacts/sources/models.csv"
    lines = [line for line in models.read_text().splitlines(keepends=True) if not line.startswith("llama3.1-8b,")]
    models.write_text("".join(lines))
    result = run(project, "check")
    messages = [line for line in result.stderr.splitlines() if "nope_layers" in line]
    assert result.returncode == 1
    assert len(messages) == 21
    assert messages[0].startswith("artifacts/sources/nope_layers.csv: row ")
    assert messages[-1] == f"nope_layers: ... and {len(check(project, 'nope_layers')) - 20} more"
