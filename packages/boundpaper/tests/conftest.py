"""Fixtures of the engine's suite: the specimen, a paper of its own, and nothing else that could be at hand.

The suite runs without torch, without the instruments and without the thesis beside which it lies: importing one of them
fails here as it fails where only the engine is installed.
"""

import difflib
import importlib.metadata
import os
import shutil
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import specimens
from heeded import heed_signals

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails by the clock

GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = ("pdflatex", "latexmk", "pdftoppm")
ELSEWHERE = {"keyquery", "torch", "transformers"}


class NotOfTheEngine(MetaPathFinder):
    """Refuses modules that the engine must do without."""

    def find_spec(self, name, path=None, target=None):
        if name in ELSEWHERE:
            raise ModuleNotFoundError(f"the engine's suite runs without {name}", name=name)


def entry_points(**wanted):
    """The entry points of what is installed, without those of packages that the engine must do without."""
    found: Any = installed(**wanted)
    return [each for each in found if each.module.partition(".")[0] not in ELSEWHERE] if "group" in wanted else found


sys.meta_path.insert(0, NotOfTheEngine())
installed, importlib.metadata.entry_points = importlib.metadata.entry_points, entry_points
os.environ["PYTHONPATH"] = str(specimens.SOURCE)  # programs that tests start import what lies here

heed_signals()


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files of what is rendered")


def pytest_collection_modifyitems(items):
    absent = [program for program in PROGRAMS if not shutil.which(program)]
    if absent:
        skip = pytest.mark.skip(reason=f"{', '.join(absent)} missing: install TeX Live and poppler-utils")
        for item in items:
            if "latex" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def specimen(tmp_path_factory):
    """The specimen as `new` and its own files make it: no test changes it."""
    return specimens.begin(tmp_path_factory.mktemp("specimen") / "paper")


@pytest.fixture(autouse=True)
def _opened(monkeypatch, specimen):
    """Begin each test with the specimen open; a command of the test opens another paper."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(specimen))


@pytest.fixture
def golden(request):
    """Compares a text with the golden file at a path, or rewrites it with `--update-golden`."""

    def compare(path: str, text: str) -> None:
        file = GOLDEN / path
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        assert file.is_file(), f"no golden file {path}; make it with --update-golden and read it"
        known = file.read_text()
        diff = difflib.unified_diff(known.splitlines(), text.splitlines(), path, "rendered now", lineterm="", n=1)
        assert text == known, "\n".join(diff)

    return compare
