"""Install the two wheels in empty environments, and run their quick starts and commands there.

These checks download all requirements, including torch, and are therefore a separate command: `make test-wheels`.
"""

import os
import re
import subprocess
import sys
import zipfile

import pytest

import specimens
from boundpaper.build.vendor import write_wheels
from conftest import ROOT
from faces import quick_start

TORCH = re.search(r"^torch==.*", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
LATER = "0.2.99"


class Environment:
    """A new virtual environment, in which pip installs packages at the versions of `constraints.txt`."""

    def __init__(self, folder):
        self.programs = folder / "bin"
        self.run(folder.parent, sys.executable, "-m", "venv", folder)

    def run(self, folder, *command):
        """Run a command with this environment's programs first in PATH; return its output. It must succeed."""
        outer = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BOUNDPAPER"))}
        environment = outer | {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{command}\n{result.stdout[-2000:]}{result.stderr[-4000:]}"
        return result.stdout

    def install(self, *packages):
        quiet = ("-q", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
        self.run(ROOT, self.programs / "python", "-m", "pip", "install", *quiet, *packages)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return write_wheels(tmp_path_factory.mktemp("wheels"), ("boundpaper", "keyquery"))


@pytest.fixture(scope="module")
def light(wheels, tmp_path_factory):
    """Return an environment with boundpaper only."""
    environment = Environment(tmp_path_factory.mktemp("light") / "environment")
    environment.install(wheels[0])
    return environment


@pytest.fixture(scope="module")
def full(wheels, tmp_path_factory):
    """Return an environment with boundpaper, and keyquery with its extra `models`."""
    environment = Environment(tmp_path_factory.mktemp("full") / "environment")
    environment.install(TORCH)
    environment.install(wheels[0], f"{wheels[1]}[models]")
    return environment


@pytest.fixture(scope="module")
def paper(light, tmp_path_factory):
    """Return a paper that the installed `boundpaper new` wrote, with the files of the sample paper added."""
    folder = tmp_path_factory.mktemp("outside")
    light.run(folder, "boundpaper", "new", "paper", "--title", "Recall, Checked")
    return specimens.fill(folder / "paper")


def later(wheel, folder):
    """Copy a wheel to a folder and give the copy the version number `LATER`; return the copy."""
    version = wheel.name.split("-")[1]
    target = folder / wheel.name.replace(version, LATER)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "boundpaper/__init__.py" or "dist-info" in name:
                text = text.replace(version.encode(), LATER.encode())
            new.writestr(name.replace(f"-{version}.dist-info", f"-{LATER}.dist-info"), text)
    return target


def test_quick_start_of_boundpaper_runs_without_torch(light, tmp_path):
    printed = light.run(tmp_path, "python", "-c", quick_start("boundpaper"))
    assert "\\caption{Heights of beans.}" in printed
    assert (tmp_path / "growth.pdf").read_bytes().startswith(b"%PDF")
    code = "from importlib.util import find_spec as f; print(f('torch'), f('keyquery'))"
    assert light.run(tmp_path, "python", "-c", code).split() == ["None", "None"]


@pytest.mark.latex
def test_new_paper_builds_its_pdf_and_upgrades_the_engine(light, paper, wheels, tmp_path):
    light.run(paper, "boundpaper", "vendor")
    light.run(paper, "python", "build.py", "paper")
    assert (paper / "out/thesis.pdf").read_bytes().startswith(b"%PDF")
    before = {path.name: path.read_bytes() for path in (paper / "artifacts/results").glob("*.csv")}
    light.install(later(wheels[0], tmp_path))
    assert f"boundpaper {LATER}" in light.run(paper, "python", "build.py", "--version")
    light.run(paper, "python", "build.py", "paper")
    assert {path.name: path.read_bytes() for path in (paper / "artifacts/results").glob("*.csv")} == before != {}


@pytest.mark.models
def test_quick_start_of_keyquery_computes_a_plasticity(full, tmp_path):
    printed = full.run(tmp_path, "python", "-c", quick_start("keyquery"))
    assert "plasticity" in printed


@pytest.mark.models
def test_model_is_captured_and_analysed_outside_of_any_paper(full, tmp_path):
    options = ("--model", "tiny-rope", "--texts", "manual:evaluation", "--documents", "1", "--context", "128")
    full.run(tmp_path, "boundpaper", "capture", *options, "--device", "cpu", "--out", "captured")
    printed = full.run(tmp_path, "boundpaper", "heads", "captured", "--bins", "2", "--min-queries", "4", "-j", "1")
    assert "artifacts/measurements/head_metrics/tiny-rope.csv\n" in printed
    assert (tmp_path / "artifacts/measurements/head_metrics/tiny-rope.csv").is_file()
