"""Wrong, truncated or moved data, as reported to users on the command line."""

import shutil
import subprocess

import pytest

from specimens import fails, run

SOURCE = "artifacts/sources/recall_by_length.csv"
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org")


@pytest.fixture
def paper(analysed, tmp_path):
    return shutil.copytree(analysed, tmp_path / "paper")


def edit(root, old, new):
    text = (root / SOURCE).read_text()
    assert old in text
    (root / SOURCE).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("reader,length,printed", "reader,length,prnted", ["no column printed; unknown column prnted"]),
        ("71.0", "high", ["row 4, printed", "'high'"]),
        ("71.0", "NaN", ["row 4, printed", "'NaN'"]),
        ("71.0", "710", ["row 4, printed", "outside"]),
        ("reader-s,1024", "reader-s,512", ["row 3", "twice"]),
        ("reader-s,1024", "reader-z,1024", ["row 3", "'reader-z'", "readers"]),
        ("71.0", "", ["row 4, printed", "empty without a reason"]),
    ],
)
def test_bad_data_is_named_by_file_row_and_field(paper, old, new, words):
    edit(paper, old, new)
    fails(run(paper, "table", "recall_loss"), SOURCE, *words)
    fails(run(paper, "check"), SOURCE, *words)


def test_truncated_or_missing_data_file_is_reported(paper):
    text = (paper / SOURCE).read_text()
    (paper / SOURCE).write_text(text[: len(text) // 2])
    fails(run(paper, "check"), SOURCE)
    (paper / SOURCE).write_text("")
    fails(run(paper, "table", "recall_loss"), SOURCE, "empty")
    (paper / SOURCE).unlink()
    fails(run(paper, "table", "recall_loss"), "recall_by_length")


def test_diff_shows_a_changed_cell_and_its_size(paper):
    subprocess.run(["git", "init", "-q"], cwd=paper, check=True)
    (paper / ".gitignore").write_text("/out/\n")
    subprocess.run([*GIT, "add", "-A"], cwd=paper, check=True)
    subprocess.run([*GIT, "commit", "-qm", "x"], cwd=paper, check=True)
    assert run(paper, "diff", "HEAD", "--check").returncode == 0
    edit(paper, "92.0", "92.5")
    diff = run(paper, "diff", "HEAD", "--check")
    assert diff.returncode == 1
    assert "result recall_drop: reader-s, drop: 39.5 -> 40 (+0.5, +1.27 %)" in diff.stdout
    fails(run(paper, "diff", "nowhere"), "no revision 'nowhere'")
    status = subprocess.run(["git", "status", "--short"], cwd=paper, capture_output=True, text=True, check=True)
    assert status.stdout.split() == ["M", SOURCE], "`diff` may only change files below out/"
    diff = run(paper, "diff", "HEAD", "--all")
    assert "39.5 -> 40" in diff.stdout
    assert "note: " not in diff.stderr
    assert run(paper, "analyze").returncode == 0
    subprocess.run(["git", "checkout", "-q", "artifacts"], cwd=paper, check=True)
    assert "note: " not in run(paper, "analyze").stderr, "restored files are rebuilt without a note"
    assert run(paper, "diff", "HEAD", "--check").returncode == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import lamps_of_mine\n", "lamps_of_mine is not installed; run: "),
        ("import\n", "the commands of analysis.commands cannot be loaded: SyntaxError"),
        ("1 / 0\n", "the commands of analysis.commands cannot be loaded: ZeroDivisionError"),
    ],
)
def test_error_while_loading_commands_of_a_paper_is_reported(paper, text, words):
    (paper / "analysis/commands.py").write_text(text)
    fails(run(paper, "check"), words)
