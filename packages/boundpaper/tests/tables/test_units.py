"""Units of a table's columns, compared with those in the data package."""

import pandas as pd
import pytest

from boundpaper.tables import Column, Table
from boundpaper.tables.units import contradicted_unit

PACKAGE = """
name: test
resources:
- name: sales
  origin: []
  fields: [{firm*: Firm}, {paid: Paid, type: number, unit: francs}, {share: Share, type: number, unit: percent},
    {height: Height, type: number, unit: "1"}, {value: Value, type: number, unit: as the metric says}]
- name: others
  origin: []
  fields: [{firm*: Firm}, {paid: Paid, type: number, unit: pounds}]
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts/datapackage.yaml").write_text(PACKAGE)
    return tmp_path


def table(field, unit):
    return Table(rows=pd.DataFrame({field: [1.0]}), columns=[Column(field, "Title", unit=unit)], caption="A.")


@pytest.mark.parametrize(
    ("field", "unit"),
    [
        ("paid", "franc"), ("paid", "$Francs$"), ("share", "%"), ("share", "\\%"), ("height", "cm"), ("value", "nats"),
        ("own", "cm"),
    ],
)  # fmt: skip
def test_matching_or_undeclared_unit_is_accepted(root, field, unit):
    assert contradicted_unit(root, ["sales"], table(field, unit)) == ""


@pytest.mark.parametrize(("field", "unit"), [("paid", "furlongs"), ("share", "points"), ("paid", "thousand francs")])
def test_unit_that_differs_from_the_data_package_is_reported(root, field, unit):
    message = contradicted_unit(root, ["sales"], table(field, unit))
    assert message.startswith(f"the column {field!r} has the unit {unit!r}, but artifacts/datapackage.yaml says")
    assert "in sales; correct one of them" in message


def test_a_column_of_several_artifacts_may_have_the_unit_of_any(root):
    assert contradicted_unit(root, ["sales", "others"], table("paid", "pounds")) == ""
    assert contradicted_unit(root, ["sales", "unknown"], table("paid", "pounds"))
