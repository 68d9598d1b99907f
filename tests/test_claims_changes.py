"""The ledger compared with a revision, where changed claims are named; and one claim shown with its inputs."""

import json
import subprocess

import pytest

from boundpaper.build.job import Job
from boundpaper.claims.changes import changes
from boundpaper.claims.places import build, places_of_rows
from conftest import run

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org")
LEDGER = "claim,n,verdict,reason,p_value\n"
CLAIMS = '''from boundpaper.claims import Verdict, claim, judge, pick


@claim("002, Overview")
def c002_drop_is_large(captured_models) -> list[Verdict]:
    """The largest drop is above a tenth."""
    most = captured_models["ap_overall"].max()
    return [judge(most < 0.9, f"It is {most:g}.", key="below", n=len(captured_models), statement="It is below 0.9.")]
'''


# --- two versions of a ledger


def test_equal_ledgers_have_no_changes():
    before = LEDGER + "a,1,holds,so,0.1\nb,2,holds,so,\n"
    assert changes(before, before) == []
    assert changes(before, LEDGER + "a,1,holds,so,0.10000000001\nb,2,holds,so,\n") == []


def test_changed_lost_and_new_verdicts_are_named():
    before = LEDGER + "a,1,holds,so,\nb,2,not supported,so,\nc,3,holds,so,\n"
    after = LEDGER + "a,1,contradicted,so,\nc,3,holds,so,\nd,1,not testable,so,\n"
    assert changes(before, after) == ["a: holds -> contradicted", "b: not supported -> gone", "d: new -> not testable"]


def test_other_changed_cells_are_summarised_by_column():
    before = LEDGER + "a,1,holds,so,0.1\nb,2,holds,so,0.2\n"
    after = LEDGER + "a,1,holds,thus,0.1\nb,2,holds,thus,0.3\n"
    assert changes(before, after) == [
        "reason: differs in 2 rows, for example a",
        "p_value: differs in 1 row, for example b",
    ]
    new = before.replace("p_value", "p_adjusted")
    assert changes(before, new) == [
        "p_adjusted (a new column): differs in 2 rows, for example a",
        "p_value: no longer a column",
    ]
    assert changes(before, LEDGER + "b,2,holds,so,0.2\na,1,holds,so,0.1\n") == ["the order of the rows differs"]


# --- the command


@pytest.fixture
def committed(project):
    """Return a project with one claim and a committed ledger, in a new repository."""
    for path in [*(project / "analysis/claims").glob("[a-z]*/**/[a-z]*.py"), *(project / "paper/chapters").glob("*")]:
        path.unlink()
    (project / "analysis/claims/one.py").write_text(CLAIMS)
    (project / ".gitignore").write_text("/out/\n")
    assert run(project, "analyze", "claims").returncode == 0
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    commit(project)
    return project


def commit(project):
    subprocess.run([*GIT, "add", "-A"], cwd=project, check=True)
    subprocess.run([*GIT, "commit", "-qm", "x"], cwd=project, check=True)


def test_check_compares_with_the_committed_ledger_after_rebuilds(committed):
    assert run(committed, "claims", "--check").returncode == 0
    source = committed / "artifacts/sources/reported_plasticity.csv"
    source.write_text(source.read_text().replace("0.6224", "0.9624", 1))
    assert run(committed, "analyze", "claims").returncode == 0
    for _ in range(2):
        result = run(committed, "claims", "--check")
        assert result.returncode == 1
        assert "c002_drop_is_large.below: holds -> contradicted" in result.stdout.splitlines()
        assert "differs from HEAD" in result.stderr
    commit(committed)
    assert run(committed, "claims", "--check").returncode == 0
    against = run(committed, "claims", "--check", "--against", "HEAD~1")
    assert against.returncode == 1
    assert "holds -> contradicted" in against.stdout

    assert run(committed, "claims", "--against", "HEAD").returncode == 2
    assert run(committed, "claims", "--check", "c002_drop_is_large").returncode == 2
    unknown_revision = run(committed, "claims", "--check", "--against", "nowhere")
    assert (unknown_revision.returncode, "no revision 'nowhere'" in unknown_revision.stderr) == (1, True)

    shown = run(committed, "claims", "c002_drop_is_large.below").stdout
    for line in (
        "c002_drop_is_large.below: contradicted (supporting, statement, reading)",
        "002, Overview",
        "n 13",
        "It is 0.9624.",
        "analysis/claims/one.py:5",
        "reads      captured_models",
        "used by    no chapter",
    ):
        assert line in shown, shown
    unknown = run(committed, "claims", "c002_drop_is_larg")
    assert (unknown.returncode, "did you mean c002_drop_is_large" in unknown.stderr) == (2, True)


def test_check_outside_a_git_checkout_is_refused(project, tmp_path):
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")  # no repository above it either
    result = run(project, "claims", "--check", env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path)})
    assert result.returncode == 1
    assert "is not a git repository" in result.stderr
    assert "Traceback" not in result.stderr


# --- places


def test_places_join_anchor_function_inputs_and_chapters(tmp_path):
    (tmp_path / "artifacts/sources").mkdir(parents=True)
    (tmp_path / "artifacts/sources/claim_anchors.csv").write_text(
        "claim,document,heading,line,anchor,match\nc.a,002,Overview,12,0123456789ab,0.9\n"
    )
    (tmp_path / "paper/chapters").mkdir(parents=True)
    (tmp_path / "paper/chapters/lab.tex.j2").write_text("It << claim('c.a').phrase >> and << claim( \"c.b\" ) >>.")
    rows = [{"claim": f"c.{key}", "order": ["002", "analysis/claims/x.py", 7], "inputs": ["m", "n"]} for key in "ab"]
    first, second = places_of_rows(tmp_path, rows)
    assert first == {
        "claim": "c.a",
        "source": "002",
        "heading": "Overview",
        "line": "12",
        "anchor": "0123456789ab",
        "function": "analysis/claims/x.py:7",
        "inputs": "m; n",
        "chapters": "lab",
    }
    assert (second["anchor"], second["chapters"]) == ("", "lab")
    assert json.dumps(second)


def test_places_table_has_one_row_per_verdict_in_ledger_order(tmp_path):
    (tmp_path / "out/claims").mkdir(parents=True)
    (tmp_path / "paper/chapters").mkdir(parents=True)
    for name, line in (("c002_late", 90), ("c002_early", 8)):
        row = {"claim": name, "verdict": "holds", "order": ["002", "b.py", line], "inputs": ["m"], "repeats": ""}
        (tmp_path / f"out/claims/{name}.json").write_text(json.dumps([row]))
    files = ("out/claims/c002_late.json", "out/claims/c002_early.json")
    (written,) = build(Job(tmp_path, "places", "claim_places", "", inputs=files)).items()
    assert written[0] == "artifacts/results/claim_places.csv"
    names, *lines = written[1].decode().splitlines()
    assert names == "claim,source,heading,line,anchor,function,inputs,chapters"
    assert lines == ["c002_early,002,,,,b.py:8,m,", "c002_late,002,,,,b.py:90,m,"]
