"""The page `docs/adopt.md`: write its paper and run its commands, in order."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from adopting import run

PAGE = (Path(__file__).resolve().parents[1] / "docs/adopt.md").read_text()
FILE = re.compile(r"^Into `([\w./]+)`:\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)```", re.MULTILINE | re.DOTALL)


def test_tutorial_commands_bind_numbers_and_flatten_back(tmp_path):
    for name, text in FILE.findall(PAGE):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = (tmp_path / "main.tex").read_text()
    printed = {}
    for line in "".join(SHELL.findall(PAGE)).splitlines():
        if line.startswith("boundpaper "):
            printed[line] = run(tmp_path, *line.split()[1:], code=1 if line == "boundpaper lint" else 0)
        else:
            subprocess.run(["bash", "-ec", line], cwd=tmp_path, check=True)
        if line == "boundpaper lint --fix":
            bound = (tmp_path / "main.tex").read_text()
            assert bound.count(r"\val{") == 8
    assert r"main.tex:3: 0.831 is typed: \val{heights/bean,sun/gain:.3f}" in printed["boundpaper lint"]
    assert (tmp_path / "main.tex").read_text() == before.replace("0.831", "0.845")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main-arxiv.zip", "main.tex", "results"]


def test_hook_files_of_the_page_are_valid_for_their_programs():
    blocks = re.findall(r"^```yaml\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    hooks, action = map(yaml.safe_load, blocks)
    assert [hook["entry"] for hook in hooks["repos"][0]["hooks"]] == ["boundpaper build --check", "boundpaper lint"]
    assert "boundpaper build --check" in [step.get("run") for step in action["jobs"]["numbers"]["steps"]]


@pytest.mark.skipif(shutil.which("perl") is None, reason="no perl")
def test_latexmkrc_line_does_nothing_when_the_program_is_missing(tmp_path):
    [line] = re.findall(r"^```perl\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "latexmkrc").write_text(line + "\n1;\n")
    perl = shutil.which("perl") or ""
    result = subprocess.run(
        [perl, "latexmkrc"], cwd=tmp_path, env={"PATH": "/nowhere:/bin"}, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    program = tmp_path / "boundpaper"
    program.write_text(f'#!/bin/sh\n{sys.executable} -c \'open("called", "w")\'\n')
    program.chmod(0o755)
    subprocess.run([perl, "latexmkrc"], cwd=tmp_path, env={"PATH": f"{tmp_path}:/bin"}, check=True)
    assert (tmp_path / "called").is_file()
