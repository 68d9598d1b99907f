"""Changes since a git revision: cells, rows, columns and whole tables."""

import subprocess

import pytest

from boundpaper.build.build_copy import RESULTS
from boundpaper.build.changes import Change, results, summary
from boundpaper.errors import DataError

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]


@pytest.fixture
def root(tmp_path):
    (tmp_path / "artifacts/results").mkdir(parents=True)
    (tmp_path / "artifacts/results/r.csv").write_text("name,n,x\na,1,0.5\nb,1,2\n")
    (tmp_path / "artifacts/results/gone.csv").write_text("x\n1\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*GIT, "add", "-A"], cwd=tmp_path, check=True)
    subprocess.run([*GIT, "commit", "-qm", "x"], cwd=tmp_path, check=True)
    return tmp_path


def test_unchanged_results_list_no_change(root):
    assert list(results(root, "HEAD", 1e-6, root / RESULTS)) == []


def test_changes_of_cells_rows_columns_and_whole_tables_are_listed(root):
    (root / "artifacts/results/r.csv").write_text("name,n,x,y\na,1,0.75,1\nc,1,2,1\n")
    (root / "artifacts/results/gone.csv").unlink()
    (root / "artifacts/results/new.csv").write_text("x\n1\n")
    lines = [str(change) for change in results(root, "HEAD", 1e-6, root / RESULTS)]
    assert lines == [
        "result gone: whole table: present -> (none)", "result new: whole table: (none) -> present",
        "result r: column y: (none) -> present", "result r: row b: present -> (none)",
        "result r: a, x: 0.5 -> 0.75 (+0.25, +50 %)", "result r: row c: (none) -> present",
    ]  # fmt: skip


def test_tolerance_is_relative(root):
    (root / "artifacts/results/r.csv").write_text("name,n,x\na,1,0.5001\nb,1,2\n")
    assert len(list(results(root, "HEAD", 1e-6, root / RESULTS))) == 1
    assert list(results(root, "HEAD", 1e-3, root / RESULTS)) == []


def test_a_summary_shows_few_changes_in_full():
    changes = [Change("r", "a, x", "1", "2"), Change("t", "b, x", "1", "4")]
    assert summary(changes) == [
        "2 differences in 2 results; 0 of verdicts",
        "result r: a, x: 1 -> 2 (+1, +100 %)",
        "result t: b, x: 1 -> 4 (+3, +300 %)",
    ]


def test_summary_of_many_changes_fits_a_page_with_verdicts_first():
    curve = [Change("curve", f"{row}, y", "1", f"{1 + row / 1e4}") for row in range(1000)]
    cells = [Change(f"t{number}", "a, x", "1.0", "1.1") for number in range(80)]
    table = Change("gone", "whole table", "present", "")
    verdicts = [Change("claims", f"c{number}, verdict", "holds", "contradicted") for number in range(30)]
    lines = summary([*curve, *cells, table, *verdicts])
    assert len(lines) <= 45
    assert lines[0] == "1111 differences in 83 results; 30 of verdicts"
    assert lines[1] == "result claims: c0, verdict: holds -> contradicted"
    assert lines[16] == "... and 15 more verdicts; `python build.py claims --check` names them"
    assert lines[17:19] == ["result claims: 30 differences", "result gone: whole table: present -> (none)"]
    assert lines[-1].endswith("more results; --all lists every cell")


def test_changes_refuse_an_unknown_revision_and_a_folder_without_git(root, tmp_path_factory):
    with pytest.raises(DataError, match="no revision 'v9'"):
        list(results(root, "v9", 0, root / RESULTS))
    with pytest.raises(DataError, match="not a git repository"):
        list(results(tmp_path_factory.mktemp("bare"), "HEAD", 0, root / RESULTS))
