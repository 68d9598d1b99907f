"""The worked study: its notebook run to the two pages that it ends in, and its commands from an empty folder."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pandas as pd
import pytest

import keyquery
from boundpaper.typeset.numbers import significant
from conftest import ROOT

pytestmark = [pytest.mark.latex, pytest.mark.models]
TINY = Path(keyquery.__file__).parent / "tiny"
COMMAND = re.compile(r"^    boundpaper (run .*--model mine .*|compare mine .*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.delenv("BOUNDPAPER_ROOT", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def pages(pdf: Path) -> list[str]:
    """The text of each page."""
    said = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return said.replace("\N{MINUS SIGN}", "-").split("\f")[:-1]


def printed(paper: Path) -> tuple[list[str], pd.DataFrame]:
    """The pages of a comparison and its results; every estimate stands in the text as computed, and was looked up."""
    text = pages(paper / "out/chapters/comparison.pdf")
    found = pd.read_csv(paper / "artifacts/results/comparison.csv")
    bound = {each["origins"][0]["column"] for each in json.loads((paper / "out/bound/comparison.json").read_text())}
    assert {"reference_mean", "model_mean", "estimate", "n"} <= bound
    for row in found.itertuples():
        assert significant(3).show(row.estimate, "plain").replace("\N{MINUS SIGN}", "-") in " ".join(text[0].split())
    assert (found["p_adjusted"] >= found["p_value"]).all()
    assert found["adjustment"].unique().tolist() == [f"Holm over {len(found)} tests of this comparison"]
    return text, found


def test_the_notebook_ends_in_two_pages_with_a_table_and_three_figures(tmp_path):
    notebook = nbformat.read(ROOT / "docs/notebooks/study.ipynb", as_version=4)
    run = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in run.cells for output in cell.get("outputs", ())]
    pictures = [output for output in shown if "image/png" in output.get("data", {})]
    [paper] = tmp_path.glob("study-*")
    text, found = printed(paper)
    assert len(text) == 2
    assert len(pictures) == 2 + len(text) + 1  # figures of the paper, its pages, and the first figure where it is drawn
    whole = "\n".join(text)
    assert re.findall(r"(Table|Figure) 1\.(\d):", whole) == [("Table", "1"), *(("Figure", str(n)) for n in (1, 2, 3))]
    assert set(found["n"]) == {8}


def test_three_commands_lead_from_two_model_folders_to_a_comparison_on_paper(tmp_path):
    """The first installs; the others are run as the page has them, in a folder that holds the two models only."""
    folder = tmp_path / "empty"
    for name, tiny in (("mine", "tiny-continued"), ("twin", "tiny-drope")):
        shutil.copytree(TINY / tiny, folder / name)
        (folder / name / "lab.json").write_text('{"language": "population", "training_length": 64}')
    commands = COMMAND.findall((ROOT / "docs/measuring.md").read_text(encoding="utf-8"))
    assert [command.split()[0] for command in commands] == ["run", "compare"]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "boundpaper", *command.split()],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("comparison/out/chapters/comparison.pdf")
    text, found = printed(folder / "comparison")
    assert len(text) == 2
    assert {"ci_low", "ci_high"} <= set(found.dropna(axis=1).columns)
    again = subprocess.run(
        [sys.executable, "-m", "boundpaper", *commands[-1].split()], cwd=folder, capture_output=True, text=True
    )
    assert (again.returncode, "comparison" in again.stderr) == (1, True)  # a folder that holds something is left alone
