"""Ordinary commands build the specimen, which has five tables, a figure and ten claims."""

import csv
import json
import os
import shutil
import subprocess

import pytest

from boundpaper.adopt.export import document_words
from boundpaper.paper.tex import pdf
from specimens import new, run

LEDGER = "artifacts/results/claims.csv"
TABLES = ("readers", "recall_lengths", "recall_loss", "recall_near_far", "recall_differs")
HOLDS, FAILS = "holds", "contradicted"

# By claim: its verdict on the frozen document; then a changed cell of a table, and the new verdict.
CLAIMS = {
    "recall_falls": (HOLDS, ("recall_by_length", "reader-l,2048,88.0", "reader-l,2048,94.0", FAILS)),
    "recall_drop_small": (HOLDS, ("recall_stated", "drop_small,39.5", "drop_small,35.9", FAILS)),
    "recall_drop_large": (HOLDS, ("recall_stated", "drop_large,17.0", "drop_large,71.0", FAILS)),
    "recall_mean_small": (HOLDS, ("recall_stated", "mean_small,71.0", "mean_small,71.1", FAILS)),
    "recall_mean_large": (FAILS, ("recall_stated", "mean_large,88.4", "mean_large,88.0", HOLDS)),
    "recall_large_better": (HOLDS, ("recall_seeds", "reader-l,0,87.1", "reader-l,0,7.1", "not significant")),
    "recall_near_large": ("not supported", ("recall_places", "reader-l,far,176", "reader-l,far,120", HOLDS)),
    "recall_near_small": (HOLDS, ("recall_places", "reader-s,far,96", "reader-s,far,190", FAILS)),
    "recall_half": (HOLDS, ("recall_stated", "longest_small,50", "longest_small,80", FAILS)),
    "recall_third_reader": ("not testable", None),
}


def verdicts(root):
    with (root / LEDGER).open(newline="") as stream:
        return {row["claim"]: row["verdict"] for row in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def paper(analysed, tmp_path_factory):
    """Return a copy of the specimen with its results, which tests of this module change only below `out`."""
    return shutil.copytree(analysed, tmp_path_factory.mktemp("specimen") / "paper")


def test_check_accepts_the_specimen_and_lists_its_steps(paper):
    result = run(paper, "check")
    assert (result.returncode, result.stderr) == (0, "")
    listed = run(paper, "list").stdout
    assert listed.count("\nclaim:") == len(CLAIMS)
    assert [name for name in TABLES if f"table:{name} " not in listed] == []


def test_claims_have_the_expected_verdicts_on_the_frozen_document(paper):
    assert verdicts(paper) == {name: verdict for name, (verdict, _) in CLAIMS.items()}
    result = run(paper, "claims", "recall_mean_large")
    assert "recall_mean_large: contradicted (supporting, statement, number)" in result.stdout, result.stderr
    assert "reported 88.4, recomputed 88.00" in result.stdout


def test_specimen_uses_words_and_colours_of_its_vocabulary(paper):
    claims = run(paper, "claims", "recall_near_large")
    assert "recall_near_large: not supported (headline, " in claims.stdout, "a section in `headlines`"
    assert "The largest rise is" in run(paper, "claims", "recall_falls").stdout, "words from `ledger`"
    result = run(paper, "figure", "recall_curves", "--format", "tex")
    assert result.returncode == 0, result.stderr
    text = (paper / result.stdout.strip()).read_text()
    assert "Reader-Small" in text, "the name is in the vocabulary's `families`"
    assert "okgreen" in text


# Claims whose cells are changed together: first stated values, each read by only one claim, then other tables.
STATED = tuple(name for name, (_, change) in CLAIMS.items() if change and change[0] == "recall_stated")
ROUNDS = ((*STATED, "recall_near_small"), ("recall_falls", "recall_large_better", "recall_near_large"))


def test_each_claim_changes_verdict_with_the_cell_it_reads(paper, tmp_path):
    changes = {name: change for name, (_, change) in CLAIMS.items() if change}
    assert sorted(name for names in ROUNDS for name in names) == sorted(changes)
    for number, names in enumerate(ROUNDS):
        root = shutil.copytree(paper, tmp_path / str(number))
        for table, printed, replacement, _ in map(changes.__getitem__, names):
            path = root / f"artifacts/sources/{table}.csv"
            assert path.read_text().count(printed) == 1, printed
            path.write_text(path.read_text().replace(printed, replacement))
        result = run(root, "claims")
        assert result.returncode == 0, result.stderr
        changed_verdicts = verdicts(root)
        assert {name: changed_verdicts[name] for name in names} == {name: changes[name][3] for name in names}


def test_tables_print_the_values_of_the_document(paper):
    result = run(paper, "table", "recall_loss", "--format", "json")
    assert result.returncode == 0, result.stderr
    assert [row["drop"]["value"] for row in json.loads(result.stdout)["rows"]] == [39.5, 17.0]
    near = run(paper, "table", "recall_near_far", "--format", "markdown").stdout.replace("\xa0", " ")
    for wilson in ("85.5 \\[80.0, 89.7\\]", "48.0 \\[41.2, 54.9\\]"):  # intervals for 171 and 96 of 200
        assert wilson in near


def test_steps_come_before_installed_packages_of_the_same_name(paper, tmp_path):
    """For example, the installed package PyTables is imported as `tables`, the name of a folder of steps."""
    for name in ("analysis", "tables", "figures"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    shutil.rmtree(paper / "out")
    for command in (["analyze"], ["table", "recall_loss"]):
        result = run(paper, *command, env={**os.environ, "PYTHONPATH": paths})
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.latex
def test_specimen_compiles_to_a_pdf(paper):
    result = run(paper, "paper")
    assert result.returncode == 0, result.stderr
    text = (paper / "out/chapters/recall.tex").read_text()
    assert "{39.5} points" in text
    assert "contradicted" in text
    assert (paper / "out/thesis.pdf").stat().st_size > 30_000


def test_new_refuses_a_folder_that_is_not_empty(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = new(tmp_path)
    assert result.returncode == 2
    assert "is not empty; name a folder that does not exist yet" in result.stderr


def test_new_refuses_a_folder_inside_a_paper(paper):
    inside = run(paper, "new", "here")
    assert inside.returncode == 2
    assert "is inside the paper" in inside.stderr
    assert not (paper / "here").exists()


@pytest.mark.latex
def test_new_empty_paper_passes_check_and_compiles(tmp_path):
    root = tmp_path / "frame"
    assert new(root, "--title", "Words: kept & lost").returncode == 0
    result = run(root, "check")
    assert (result.returncode, result.stderr) == (0, "")
    assert run(root, "paper").returncode == 0
    assert (root / "out/thesis.pdf").is_file()
    claims = run(root, "claims")
    assert claims.returncode == 1
    assert "analysis/claims contains no claim; write a function with the statement as its docstring" in claims.stderr


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("latexdiff") is None, reason="no latexdiff")
def test_diff_pdf_marks_what_changed_since_a_revision(tmp_path):
    root = tmp_path / "frame"
    assert new(root).returncode == 0
    chapter = root / "paper/chapters/introduction.tex.j2"
    chapter_text = "\\chapter{Beans}\n\nBeans grow %s under the lamp.\n"
    for number, text in enumerate(("\\cite{nobody}", chapter_text % "fast")):
        chapter.write_text(text)
        for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x"), ("tag", f"r{number}")):
            subprocess.run(("git", "-c", "user.name=t", "-c", "user.email=t@e", *command), cwd=root, check=True)
    chapter.write_text(chapter_text % "slowly")
    result = run(root, "diff", "r1", "--pdf")
    assert (result.returncode, result.stdout.split()[-1]) == (0, "out/thesis-changes.pdf"), result.stderr
    assert "fastslowly" in pdf.whole_text((root / "out/thesis-changes.pdf").read_bytes()).replace(" ", "")
    for revision, words in (("r0", "r0 does not build here"), ("nowhere", "is not a git revision here")):
        result = run(root, "diff", revision, "--pdf")
        assert (result.returncode, words in result.stderr) == (1, True), result.stderr


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("pandoc") is None, reason="no pandoc")
def test_commands_of_adopted_papers_work_or_give_usage_in_a_full_paper(paper, tmp_path):
    assert run(paper, "lint").returncode == 0
    result = run(paper, "docx", "-o", str(tmp_path / "paper.docx"))
    assert result.returncode == 0, result.stdout + result.stderr
    text = document_words((tmp_path / "paper.docx").read_bytes(), "docx")
    assert "39.5" in text
    assert "sign@" not in text
    result = run(paper, "flatten", "-o", str(tmp_path / "plain"))
    assert result.returncode == 0, result.stderr
    assert "\\begin{document}" in (tmp_path / "plain/thesis.tex").read_text()
    assert "give --arxiv or --overleaf-upload" in run(paper, "zip").stderr
