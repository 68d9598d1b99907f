"""The benchmark of planted faults: which tests run for a fault, and which outcome they give it."""

import click
import pytest

from benchmarks import mutants

FAULT = mutants.Mutant("changed.py", 1, "a -> b", "wrong = True\n")


def outcome(folder, monkeypatch, test, seconds=30):
    (folder / "changed.py").write_text("wrong = False\n", encoding="utf-8")
    (folder / "test_it.py").write_text(f"import time\n\nimport changed\n\n\ndef test_it():\n    {test}\n")
    monkeypatch.setattr(mutants, "tests_of", lambda file: ["test_it.py"])
    verdict = mutants.run_tests(folder, FAULT, seconds)
    assert (folder / "changed.py").read_text() == "wrong = False\n"
    return verdict


def test_mutant_that_fails_a_test_is_killed(tmp_path, monkeypatch):
    assert outcome(tmp_path, monkeypatch, "assert not changed.wrong") == "killed: test_it.py::test_it"


def test_mutant_that_fails_no_test_survives(tmp_path, monkeypatch):
    assert outcome(tmp_path, monkeypatch, "assert changed.wrong") == "survived"


@pytest.mark.parametrize(
    ("test", "sleeping"), [("while changed.wrong: pass", 120), ("time.sleep(600 if changed.wrong else 0)", 3)]
)
def test_mutant_that_times_out_is_not_counted_as_killed(tmp_path, monkeypatch, test, sleeping):
    monkeypatch.setattr(mutants, "MAX_WALL_SECONDS", sleeping)
    assert outcome(tmp_path, monkeypatch, test, seconds=1) == "timeout: 3 s"


def test_mutant_in_a_file_without_tests_survives(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "tests_of", lambda file: [])
    assert mutants.run_tests(tmp_path, FAULT, 1) == "survived: no test imports it"


def test_claims_named_in_a_test_or_its_imported_tables_are_found(tmp_path):
    (tmp_path / "table.py").write_text('CASES = {"c001_restated": ""}\n')
    (tmp_path / "other.py").write_text('CASES = {"c002_t3_bins": ""}\n')
    test = tmp_path / "test_it.py"
    test.write_text('from table import CASES\n\nassert "c004_con_restated"\n')
    assert mutants.called_claims(test) == {
        "analysis/claims/s001/benchmarks.py",
        "analysis/claims/s004/patterns/content.py",
    }


def test_call_that_pytest_refuses_kills_no_mutant(tmp_path, monkeypatch):
    (tmp_path / "changed.py").write_text("wrong = False\n", encoding="utf-8")
    monkeypatch.setattr(mutants, "tests_of", lambda file: ["test_missing.py"])
    with pytest.raises(click.ClickException, match=r"does not accept these tests or its options: test_missing\.py"):
        mutants.run_tests(tmp_path, FAULT, 30)
    assert (tmp_path / "changed.py").read_text() == "wrong = False\n"


@pytest.mark.parametrize(
    "killer", ["packages/boundpaper/tests/test_a.py", "packages/keyquery/tests/test_b.py", "test_c.py"]
)
def test_each_test_suite_runs_separately_with_its_markers(tmp_path, monkeypatch, killer):
    tests = ["test_c.py", "packages/keyquery/tests/test_b.py", "packages/boundpaper/tests/test_a.py"]
    runs = []

    def run(folder, tests_of_suite, seconds):
        runs.append(tests_of_suite)
        return f"killed: {tests_of_suite[0]}" if tests_of_suite == [killer] else "survived"

    (tmp_path / "changed.py").write_text("wrong = False\n", encoding="utf-8")
    monkeypatch.setattr(mutants, "tests_of", lambda file: tests)
    monkeypatch.setattr(mutants, "_outcome", run)
    assert mutants.run_tests(tmp_path, FAULT, 30) == f"killed: {killer}"
    assert all(len(tests_of_suite) == 1 for tests_of_suite in runs)
    assert runs[-1] == [killer]
