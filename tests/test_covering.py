"""`check` reports the missing data of a captured model before a study fails because of them."""

import shutil

import pytest

from boundpaper.errors import DataError
from boundpaper.store.descriptor import full_package
from boundpaper.store.schema import check
from conftest import ROOT

NEW = "ministral3-24b,Ministral-3-24B"


@pytest.fixture
def project(tmp_path):
    """Return the project's sources and schema, with another captured model that has no other data."""
    (tmp_path / "artifacts").mkdir()
    shutil.copy(ROOT / "artifacts/datapackage.yaml", tmp_path / "artifacts")
    shutil.copytree(ROOT / "artifacts/sources", tmp_path / "artifacts/sources")
    models = tmp_path / "artifacts/sources/models.csv"
    lines = models.read_text().splitlines()
    models.write_text("\n".join([*lines, lines[1].replace("ministral3-3b,Ministral-3-3B", NEW)]) + "\n")
    return tmp_path


def test_missing_metrics_of_a_model_are_reported_per_table(project):
    (fault,) = check(project, "reported_plasticity")
    assert "no metric ap_overall, ap_first_20, ap_last_20, ap_drop, bias_strength of 'ministral3-24b'" in str(fault)
    assert "required by artifacts/sources/models.csv, row 18 (captured); add the rows" in str(fault)
    (fault,) = check(project, "reported_deciles")
    assert "no decile 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 of 'ministral3-24b'" in str(fault)


def test_empty_cell_with_a_reason_covers_its_metric(project):
    path = project / "artifacts/sources/reported_plasticity.csv"
    rows = [line for line in path.read_text().splitlines() if line.startswith("ministral3-3b,")]
    added = "".join(row.replace("ministral3-3b", "ministral3-24b") + "\n" for row in rows)
    path.write_text(path.read_text() + added)
    assert check(project, "reported_plasticity") == []


def test_model_of_another_document_or_kind_needs_no_metrics(project):
    models = project / "artifacts/sources/models.csv"
    text = models.read_text()
    last = text.splitlines()[-1]
    for changed in (
        last.replace(",captured,", ",training,"),
        last.replace(",data/models", ",002 T1").replace("002", "005"),
    ):
        assert changed != last
        models.write_text(text.replace(last, changed))
        assert check(project, "reported_plasticity") == []


def test_invalid_covers_property_is_refused(project):
    schema = project / "artifacts/datapackage.yaml"
    schema.write_text(
        schema.read_text().replace("key: model, when: {subject: captured}, field: decile", "key: model", 1)
    )
    with pytest.raises(DataError, match="reported_deciles: `covers` needs exactly the keys resource, key, when, field"):
        full_package(project)
