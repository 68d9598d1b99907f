"""Fixtures of the engine's tests, based only on the specimen, a sample paper.

The suite runs without torch, the instruments and the thesis: importing one of them fails, as it does where only the
engine is installed.
"""

import importlib.metadata
import os
import sys
from importlib.abc import MetaPathFinder
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import specimens
from heeded import heed_signals
from suites import golden as golden
from suites import pytest_addoption as pytest_addoption
from suites import skip_without_tex

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails because the machine is slow

ELSEWHERE = {"keyquery", "torch", "transformers"}


class NotOfTheEngine(MetaPathFinder):
    """Refuses imports of modules that the engine must not need."""

    def find_spec(self, name, path=None, target=None):
        if name in ELSEWHERE:
            raise ModuleNotFoundError(f"the engine's suite runs without {name}", name=name)


def entry_points(**wanted):
    """Return the installed entry points, without those of packages that the engine must not need."""
    found: Any = installed(**wanted)
    return [each for each in found if each.module.partition(".")[0] not in ELSEWHERE] if "group" in wanted else found


sys.meta_path.insert(0, NotOfTheEngine())
installed, importlib.metadata.entry_points = importlib.metadata.entry_points, entry_points
os.environ["PYTHONPATH"] = str(specimens.SOURCE)  # programs started by tests import this checkout

heed_signals()


def pytest_collection_modifyitems(items):
    skip_without_tex(items, "install TeX Live and poppler-utils")


@pytest.fixture(scope="session")
def specimen(tmp_path_factory):
    """Return the specimen as made by `new` and its own files; tests do not change it."""
    return specimens.begin(tmp_path_factory.mktemp("specimen") / "paper")


@pytest.fixture(autouse=True)
def _opened(monkeypatch, specimen):
    """Start each test with the specimen as the open paper; a command in the test may open another."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(specimen))
