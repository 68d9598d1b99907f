"""The pages docs/own-paper.md and docs/tutorial.md work as written, and `new` writes a valid paper."""

import csv
import re
import signal
import subprocess
import sys
import time
import tomllib

import pytest
import yaml

import boundpaper
from boundpaper.build.new_paper import new_paper
from boundpaper.errors import SpecError
from conftest import ROOT, run

BLOCK = re.compile(r"^(Into|Append to|Replace) `([\w./-]+)`:\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    (python .+)$", re.MULTILINE)


def follow(page, root):
    """Create `root` with the first command of a page, then write its files and run its commands in order.

    Returns what each command prints.
    """
    text = (ROOT / "docs" / page).read_text()
    matches = [match for pattern in (BLOCK, COMMAND) for match in pattern.finditer(text)]
    creation, *steps = sorted(matches, key=lambda match: match.start())
    command = re.sub(r"\.\./\S+", str(root), creation[1]).replace("python", sys.executable, 1)
    result = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    printed = []
    for match in steps:
        if match.re is COMMAND:
            result = run(root, *match[1].split()[2:])
            assert result.returncode == 0, f"{match[1]}\n{result.stderr}"
            printed.append(result.stdout)
            continue
        mode, path, block = match.groups()
        assert (root / path).exists() == (mode != "Into"), path
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("w" if mode == "Replace" else "a") as stream:
            stream.write(block)
    return printed


@pytest.mark.latex
def test_ten_minute_paper_page_works_as_written(tmp_path):
    root = tmp_path / "my-paper"
    printed = follow("own-paper.md", root)
    assert "thesis_sun_grows_higher: holds" in printed[1]
    assert printed[2] == "out/thesis.pdf\n"
    assert "artifacts/sources/bean_heights.csv:3: printed 18.4" in printed[3]
    shown = subprocess.run(["pdftotext", "out/thesis.pdf", "-"], cwd=root, capture_output=True, text=True, check=True)
    assert re.search(r"18\.4\s+cm\s+high\s+after\s+two\s+weeks", shown.stdout)


@pytest.mark.latex
def test_tutorial_page_works_as_written(tmp_path):
    _, analysed, claims, table, paper, traced = follow("tutorial.md", tmp_path / "recall")
    assert "artifacts/results/recall_shares.csv" in analysed
    assert "large_drop: contradicted (reported 16.0, recomputed 17.00)" in claims
    assert claims.endswith("2 holds, 1 contradicted\n")
    assert "48.0" in table
    assert paper == "out/thesis.pdf\n"
    assert "computed from artifacts/sources/places_asked.csv:3" in traced


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    """Return the folder of a new paper."""
    root = tmp_path_factory.mktemp("own") / "frame"
    new_paper(root, 'Bohnen: "high" & low', "May 2026")
    return root


def shell(root, *command):
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def test_new_paper_has_at_most_fifteen_files_with_its_name_and_a_pinned_engine(frame):
    files = [path for path in frame.rglob("*") if path.is_file() and path.name != "claims.csv"]
    assert len(files) <= 15
    project = tomllib.loads((frame / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["description"]) == ("bohnen-high-low", 'Bohnen: "high" & low')
    assert project["dependencies"] == [f"boundpaper=={boundpaper.__version__}"]
    assert "license" not in project
    assert yaml.safe_load((frame / "artifacts/datapackage.yaml").read_text())["name"] == "bohnen-high-low"
    assert yaml.safe_load((frame / "CITATION.cff").read_text())["title"] == 'Bohnen: "high" & low'
    with (frame / "artifacts/sources/documents.csv").open(newline="") as stream:
        assert [row["title"] for row in csv.DictReader(stream)] == ['Bohnen: "high" & low']


def test_new_paper_redefines_nothing_of_boundpaper(frame):
    engine = {
        line.strip()
        for path in (ROOT / "packages/boundpaper/src/boundpaper").rglob("*.py")
        if "frame" not in path.parts
        for line in path.read_text().splitlines()
        if line.startswith(("def ", "class "))
    }
    lines = {line.strip() for path in frame.rglob("*.py") for line in path.read_text().splitlines()}
    assert engine & lines == set()


@pytest.mark.parametrize(("title", "name"), [("Ä Ö", "a-o"), ("豆", "paper"), ("x" * 99, "x" * 60), ("--1--", "1")])
def test_any_title_gives_a_valid_project_name(tmp_path, title, name):
    new_paper(tmp_path / "frame", title, "May 2026")
    assert tomllib.loads((tmp_path / "frame/pyproject.toml").read_text())["project"]["name"] == name


def test_make_test_of_a_fresh_frame_passes_before_and_after_its_first_commit(tmp_path):
    root = tmp_path / "frame"
    new_paper(root, "Beans", "May 2026")
    (root / ".venv/bin").mkdir(parents=True)
    for stamp in ("bin/python", "light.stamp", "test.stamp"):
        (root / ".venv" / stamp).touch()
    result = shell(root, "make", "test", f"PY={sys.executable}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no commit to compare results with" in result.stdout
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "Begin")):
        assert shell(root, "git", *command).returncode == 0
    result = shell(root, "make", "test", f"PY={sys.executable}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert shell(root, "git", "status", "--short").stdout == ""


def test_diff_without_git_explains_how_to_begin_and_compares_once_it_exists(frame):
    result = run(frame, "diff", "HEAD")
    assert result.returncode == 1
    assert "is not a git repository; create one: git init && git add -A" in result.stderr
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "Begin")):
        assert shell(frame, "git", *command).returncode == 0
    result = run(frame, "diff", "HEAD", "--check")
    assert (result.returncode, result.stderr) == (0, "0 differences from HEAD\n")
    assert shell(frame, "git", "status", "--short").stdout == ""


def test_interrupted_new_paper_can_be_created_again(tmp_path):
    folder = tmp_path / "frame"
    command = [sys.executable, "build.py", "new", str(folder)]
    for seconds in (0.05, 0.15, 0.3):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not list(tmp_path.iterdir()) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not folder.exists() or (folder / "tests/test_paper.py").is_file(), "no partial frame is written"
        if folder.exists():
            break
    if not folder.exists():
        assert run(ROOT, "new", str(folder)).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["frame"], "no partial file is left"


def test_empty_folder_is_filled_by_new_paper_even_after_a_kill(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".{ended.pid}-{tmp_path.name}.part").mkdir()
    (tmp_path / f".{ended.pid}-{tmp_path.name}.part" / "build.py").write_text("half")
    files = new_paper(tmp_path, "Beans", "May 2026")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == files


def test_file_in_place_of_the_new_folder_is_refused(tmp_path):
    (tmp_path / "frame").write_text("mine")
    with pytest.raises(SpecError, match="is a file; name a folder that does not exist yet"):
        new_paper(tmp_path / "frame", "Beans", "May 2026")
    assert (tmp_path / "frame").read_text() == "mine"
