"""Errors for a step's function that asks for missing columns."""

from pathlib import Path

import pandas as pd
import pytest

from boundpaper.build.job import Job
from boundpaper.errors import DataError

FRAMES = {
    "engel": pd.DataFrame({"income": [1.0], "foodexp": [2.0]}),
    "firms": pd.DataFrame({"year": [1], "invest": [2]}),
}


class FakeJob(Job):
    """A job that calls a function with frames, both chosen by the test."""

    def __init__(self, function, frames=None) -> None:
        super().__init__(Path("."), "figure", "food", "figures/food.py", "figure")
        object.__setattr__(self, "_given", (function, frames or FRAMES))

    def load(self):
        return vars(self)["_given"][0]

    def frames(self):
        return vars(self)["_given"][1]


def hint_of(function, frames=None) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (whatever the function raises)
        FakeJob(function, frames).call()
    return "".join(getattr(caught.value, "__notes__", ()))


READS = {
    "one column": lambda engel, firms: engel["incom"],
    "several": lambda engel, firms: engel[["foodexp", "incom"]],
    "sorted by": lambda engel, firms: engel.sort_values("incom"),
    "grouped by": lambda engel, firms: engel.groupby("incom"),
    "set as index": lambda engel, firms: engel.set_index("incom"),
}


@pytest.mark.parametrize("way", READS)
def test_missing_column_error_suggests_the_nearest_column(way: str) -> None:
    assert hint_of(READS[way]) == "; engel has the columns income, foodexp; did you mean 'income'?"


def test_missing_column_error_lists_all_columns_when_no_name_is_near() -> None:
    frames = {"engel": FRAMES["engel"]}
    assert hint_of(lambda engel: engel["zzz"], frames) == "; engel has the columns income, foodexp"
    assert hint_of(lambda engel, firms: engel["zzz"]) == "; it reads engel, firms"


def test_other_error_names_the_artifacts_that_the_function_reads() -> None:
    """If the function fails, for example on a missing row, the cause is in one of the tables that it reads."""
    assert hint_of(lambda engel, firms: int("x")) == "; it reads engel, firms"
    assert hint_of(lambda engel, firms: engel.loc[7]) == "; it reads engel, firms"
    frames = {f"t{number}": FRAMES["engel"] for number in range(8)}
    assert hint_of(lambda **_: [][0], frames) == "; it reads t0, t1, t2, t3, t4 and 3 more"


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("Line 'sun': unknown entity 'sun'", " ('sun' is in beans, column lamp)"),
        ("Line 'nan': unknown entity 'nan'", " ('nan' is in beans, column lamp)"),
        ("unknown entity 'moon'", ""),
        ("beans: unknown entity 'sun'", ""),
        ("0 rows have lamp='sun', plant='pea'", ""),
    ],
)
def test_error_that_quotes_a_cell_text_names_the_table_that_holds_it(tmp_path: Path, message: str, hint: str) -> None:
    (tmp_path / "artifacts/sources").mkdir(parents=True)
    (tmp_path / "artifacts/sources/beans.csv").write_text("lamp,day\nsun,1\nnan,2\n")
    (tmp_path / "artifacts/datapackage.yaml").write_text(
        "resources:\n- {name: beans, path: sources/beans.csv, origin: [{document: d, section: s}],"
        " fields: ['lamp*': which, 'day!': when]}\n"
    )
    job = Job(tmp_path, "figure", "a", "figures/a.py", "figure", {"beans": "artifacts/sources/beans.csv"})
    assert job.artifact_with(message) == hint


def test_project_error_gets_no_added_hint() -> None:
    def refuse(engel, firms):
        raise DataError("engel: no row of 1857")

    assert hint_of(refuse) == ""


def test_steps_of_two_projects_are_loaded_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One project has a package and the other a plain folder; both have files of the same names."""
    monkeypatch.syspath_prepend(tmp_path / "package")
    for name in ("package", "folder"):
        (tmp_path / name / "analysis").mkdir(parents=True)
        (tmp_path / name / "analysis/beans.py").write_text(f"def heights():\n    return {name!r}\n")
    (tmp_path / "package/analysis/__init__.py").touch()
    for name in ("package", "folder") * 2:
        assert Job(tmp_path / name, "result", "heights", "analysis/beans.py", "heights").load()() == name
