"""Fixtures of the engine's tests, based only on the specimen, a sample paper.

The suite runs without torch, the instruments and the thesis: importing one of them fails, as it does where only the
engine is installed.
"""

import importlib.metadata
import os
import shutil
import sys
from importlib.abc import MetaPathFinder
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import specimens
from suites import golden as golden
from suites import pytest_addoption as pytest_addoption
from suites import restore_signals, skip_without_tex

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails because the machine is slow

FORBIDDEN = {"keyquery", "torch", "transformers"}


class ForbiddenImports(MetaPathFinder):
    """Refuses imports of modules that the engine must not need."""

    def find_spec(self, name, path=None, target=None):
        if name in FORBIDDEN:
            raise ModuleNotFoundError(f"the engine's suite runs without {name}", name=name)


def entry_points(**selection):
    """Return the installed entry points, without those of packages that the engine must not need."""
    points: Any = all_entry_points(**selection)
    if "group" not in selection:
        return points
    return [point for point in points if point.module.partition(".")[0] not in FORBIDDEN]


sys.meta_path.insert(0, ForbiddenImports())
all_entry_points, importlib.metadata.entry_points = importlib.metadata.entry_points, entry_points
os.environ["PYTHONPATH"] = str(specimens.SOURCE)  # programs started by tests import this checkout

restore_signals()


def pytest_collection_modifyitems(items):
    skip_without_tex(items, "install TeX Live and poppler-utils")


@pytest.fixture(scope="session")
def specimen(tmp_path_factory):
    """Return the specimen: its files, copied over the new paper that `new` writes; tests do not change the result."""
    return specimens.begin(tmp_path_factory.mktemp("specimen") / "paper")


@pytest.fixture(scope="session")
def analysed(specimen, tmp_path_factory):
    """Return a copy of the specimen with its results; tests do not change it."""
    root = shutil.copytree(specimen, tmp_path_factory.mktemp("analysed") / "paper")
    analyze = specimens.run(root, "analyze")
    assert analyze.returncode == 0, analyze.stderr
    return root


@pytest.fixture(autouse=True)
def _opened(monkeypatch, specimen):
    """Start each test with the specimen as the open paper; a command in the test may open another."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(specimen))
