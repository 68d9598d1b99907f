"""The two wheels alone, installed in empty environments, do what their quick starts say.

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
    """An empty environment, in which pip installs packages at the tested versions."""

    def __init__(self, folder):
        self.programs = folder / "bin"
        self.run(folder.parent, sys.executable, "-m", "venv", folder)

    def run(self, folder, *command):
        """Return what a command prints, with this environment's programs first; the command must succeed."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BOUNDPAPER"))}
        environment = kept | {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{command}\n{result.stdout[-2000:]}{result.stderr[-4000:]}"
        return result.stdout

    def install(self, *wanted):
        quiet = ("-q", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
        self.run(ROOT, self.programs / "python", "-m", "pip", "install", *quiet, *wanted)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return write_wheels(tmp_path_factory.mktemp("wheels"), ("boundpaper", "keyquery"))


@pytest.fixture(scope="module")
def light(wheels, tmp_path_factory):
    """Return an environment with only the engine."""
    made = Environment(tmp_path_factory.mktemp("light") / "environment")
    made.install(wheels[0])
    return made


@pytest.fixture(scope="module")
def full(wheels, tmp_path_factory):
    """Return an environment with the instruments and all that models need."""
    made = Environment(tmp_path_factory.mktemp("full") / "environment")
    made.install(TORCH)
    made.install(wheels[0], f"{wheels[1]}[models]")
    return made


@pytest.fixture(scope="module")
def paper(light, tmp_path_factory):
    """Return a paper begun by the installed engine, with a small paper copied over it."""
    place = tmp_path_factory.mktemp("outside")
    light.run(place, "boundpaper", "new", "paper", "--title", "Recall, Checked")
    return specimens.fill(place / "paper")


def later(wheel, folder):
    """Return the same wheel with a later version number."""
    built, other_version = wheel.name.split("-")[1], LATER
    target = folder / wheel.name.replace(built, other_version)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "boundpaper/__init__.py" or "dist-info" in name:
                text = text.replace(built.encode(), other_version.encode())
            new.writestr(name.replace(f"-{built}.dist-info", f"-{other_version}.dist-info"), text)
    return target


def test_quick_start_of_boundpaper_runs_without_torch(light, tmp_path):
    printed = light.run(tmp_path, "python", "-c", quick_start("boundpaper"))
    assert "\\caption{Heights of beans.}" in printed
    assert (tmp_path / "growth.pdf").read_bytes().startswith(b"%PDF")
    asked = "from importlib.util import find_spec as f; print(f('torch'), f('keyquery'))"
    assert light.run(tmp_path, "python", "-c", asked).split() == ["None", "None"]


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
    asked = ("--model", "tiny-rope", "--texts", "manual:evaluation", "--documents", "1", "--context", "128")
    full.run(tmp_path, "boundpaper", "capture", *asked, "--device", "cpu", "--out", "captured")
    printed = full.run(tmp_path, "boundpaper", "heads", "captured", "--bins", "2", "--min-queries", "4", "-j", "1")
    assert "artifacts/measurements/head_metrics/tiny-rope.csv\n" in printed
    assert (tmp_path / "artifacts/measurements/head_metrics/tiny-rope.csv").is_file()
