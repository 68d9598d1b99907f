"""The page for authors of another paper, done to the letter: an empty frame, one of each kind, and a PDF."""

import re
import subprocess
import sys

import pytest

from conftest import ROOT, run

TEXT = (ROOT / "docs/own-paper.md").read_text()
BLOCK = re.compile(r"^(Into|Append to|Replace) `([\w./-]+)`:\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    (python .+)$", re.MULTILINE)


@pytest.mark.latex
def test_a_paper_in_ten_minutes(tmp_path):
    begin, *commands = COMMAND.findall(TEXT)
    root = tmp_path / "my-paper"
    done = subprocess.run(
        begin.replace("python", sys.executable, 1).replace("../my-paper", str(root)),
        shell=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    blocks = BLOCK.findall(TEXT)
    assert len(blocks) == 8
    for how, path, text in blocks:
        assert (root / path).exists() == (how != "Into"), path
        with (root / path).open("w" if how == "Replace" else "a") as stream:
            stream.write(text)
    said = []
    for command in commands:
        done = run(root, *command.split()[2:])
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        said.append(done.stdout)
    assert "thesis_sun_grows_higher: holds" in said[1]
    assert said[2] == "out/thesis.pdf\n"
    assert "artifacts/sources/bean_heights.csv:3: printed 18.4" in said[3]
    shown = subprocess.run(["pdftotext", "out/thesis.pdf", "-"], cwd=root, capture_output=True, text=True, check=True)
    assert re.search(r"18\.4\s+cm\s+high\s+after\s+two\s+weeks", shown.stdout)


def test_every_file_that_is_to_be_kept_is_there():
    kept = re.findall(r"`((?:artifacts|analysis|tables|figures|paper)/[\w./-]*)`", TEXT)
    written = {path for _, path, _ in BLOCK.findall(TEXT)}
    assert [path for path in kept if path not in written and not (ROOT / path).exists()] == []
