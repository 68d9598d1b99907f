"""The specimen, a sample paper about invented readers that the engine's tests build, and its commands."""

import shutil
import subprocess
import sys
from pathlib import Path

import warmed

HERE = Path(__file__).parents[1]
SOURCE = HERE.parent / "src"
SPECIMEN = HERE / "specimen"
SCHEMA = "artifacts/datapackage.yaml"
ENGINE = str(Path(__file__).with_name("warmed_engine.py"))


def run(root: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line of the paper in `root`; with `env`, in a new interpreter without imported libraries."""
    if env is None:
        return warmed.run(root, "build.py", *arguments, program=ENGINE)
    command = [sys.executable, "build.py", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=env)


def new(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Write a new paper by `new`, run outside of other papers, since otherwise their packages would be imported."""
    command = [sys.executable, "-m", "boundpaper", "new", str(folder), *options]
    return subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)


def begin(folder: Path) -> Path:
    """Write the frame of a new paper, and copy the specimen over it."""
    result = new(folder, "--title", "Recall, Checked")
    assert result.returncode == 0, result.stderr
    return fill(folder)


def fill(folder: Path) -> Path:
    """Copy the specimen over the frame of a new paper."""
    shutil.copytree(SPECIMEN, folder, dirs_exist_ok=True)
    (folder / "paper/chapters/introduction.tex.j2").unlink()
    with (folder / SCHEMA).open("a") as stream:
        stream.write((folder / "resources.yaml").read_text())
    return folder


def analysed(folder: Path) -> Path:
    """Begin the specimen's paper, and compute its results."""
    result = run(begin(folder), "analyze")
    assert result.returncode == 0, result.stderr
    return folder


def fails(result: subprocess.CompletedProcess[str], *words: str, code: int = 1) -> None:
    """Check that a command ends with a code, with these words in its message, and without a traceback."""
    assert result.returncode == code, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr
