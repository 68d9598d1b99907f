"""The table of cases from public reports: its content, refused tests, and whether the committed table is current."""

import pytest

from reported import table

MODULE = '''"""Beans."""

import pytest

HEIGHTS = (1, 2, 3)


@pytest.mark.reported("garden#1", "field#2", outcome="right")
def test_a_bean_grows():
    """A bean | in a pot.

    The rest is not shown.
    """


@pytest.mark.reported("garden#3", outcome="refused")
def test_a_stone_grows():
    """A stone in a pot."""


@pytest.mark.reported(outcome="refused")
@pytest.mark.parametrize("height", HEIGHTS)
@pytest.mark.parametrize("lamp", ["sun", "neon"])
def test_other_stones(height, lamp):
    """Stones of other heights under two lamps."""
'''


def write_module(folder, text=MODULE):
    (folder / "test_beans.py").write_text(text, "utf-8")
    return folder


def test_the_committed_table_is_current():
    stale = f"docs/reported.md is not what the tests below tests/reported say: run `{table.COMMAND}` and commit it"
    assert table.DOCUMENT.read_text("utf-8") == table.document(), stale


def test_reports_are_listed_with_their_attempt_and_variants_counted(tmp_path):
    text = table.document(write_module(tmp_path))
    assert "2 tests (right 1, refused 1) of 3 public threads.\nVariants of our own: 1 test on 6 inputs." in text
    assert "## beans" in text
    assert r"| garden#1, field#2 | A bean \| in a pot. | right | `test_a_bean_grows` |" in text
    assert "| garden#3 | A stone in a pot. | refused | `test_a_stone_grows` |" in text
    assert "Variants of our own: 1 test on 6 inputs." in text
    assert "test_other_stones" not in text


def test_table_runs_and_imports_no_test(tmp_path):
    assert "garden#1" in table.document(
        write_module(tmp_path, "raise SystemExit\n" + MODULE.replace("pytest\n", "pytest, nothing\n", 1))
    )


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ('@pytest.mark.skip("garden#3")', "test_a_stone_grows: needs one marker"),
        ('@pytest.mark.reported("garden#3")', "needs outcome='right' or outcome='refused'"),
        ('@pytest.mark.reported("garden#3", outcome="good")', "needs outcome='right' or outcome='refused'"),
        ("@pytest.mark.reported(HEIGHTS, outcome='right')", "takes texts in quotes"),
        ("@pytest.mark.reported(3, outcome='right')", "a thread is a text"),
    ],
)
def test_a_marker_that_the_table_cannot_read_is_refused_with_its_line(tmp_path, now, message):
    text = MODULE.replace('@pytest.mark.reported("garden#3", outcome="refused")', now)
    with pytest.raises(
        table.IncompleteCase, match=r"test_beans\.py:17: .*" + message.split(": ")[-1].replace("(", r"\(")
    ):
        table.document(write_module(tmp_path, text))


def test_test_without_a_docstring_is_refused(tmp_path):
    text = MODULE.replace('"""A stone in a pot."""', "pass")
    with pytest.raises(table.IncompleteCase, match="must say what was tried"):
        table.document(write_module(tmp_path, text))
