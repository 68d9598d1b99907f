"""The sample paper of boundpaper shares nothing with the thesis, and keyquery can measure a model for it."""

import csv
import shutil

import pytest

from conftest import ROOT, run
from specimens import SPECIMEN, analysed


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return the sample paper with its results."""
    return analysed(tmp_path_factory.mktemp("foreign") / "paper")


def test_specimen_shares_nothing_with_the_thesis(sample):
    thesis_tables = {path.name for path in (ROOT / "artifacts/sources").glob("*.csv")}
    shared = {"documents.csv", "places.csv", "families.csv"}
    assert {path.name for path in (sample / "artifacts/sources").glob("*.csv")} & thesis_tables == shared
    for folder in ("analysis/studies", "analysis/claims", "tables", "figures"):
        files = [path.relative_to(sample / folder) for path in (sample / folder).rglob("*.py")]
        modules = [path for path in files if not any(part.startswith("_") for part in path.parts)]
        assert modules, folder
        assert [path for path in modules if not (SPECIMEN / folder / path).is_file()] == []
    assert not list((sample / "artifacts").glob("measurements/*"))


@pytest.mark.models
def test_experiment_of_the_specimen_measures_a_model(sample, tmp_path):
    pytest.importorskip("torch")
    root = tmp_path / "measured"
    shutil.copytree(sample, root)
    options = ("--model", "tiny-rope", "--documents", "2", "--device", "cpu")
    result = run(root, "run", "halves", *options)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "artifacts/measurements/halves/tiny-rope.csv"
    with (root / result.stdout.strip()).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["condition"] for row in rows] == ["first", "second"] * 2
    assert all(0 < float(row["value"]) < 20 for row in rows)
    checked = run(root, "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    (root / "analysis/experiments/another.py").write_text('"""Nothing."""\n')
    again = run(root, "run", "halves", *options)
    assert "halves of tiny-rope: already measured" in again.stderr
