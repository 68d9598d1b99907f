"""Fixtures of the instruments' tests, which run without TeX and without the thesis."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from suites import restore_signals

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails because the machine is slow

HERE = Path(__file__).parent
SOURCES = [HERE.parent / "src", HERE.parents[1] / "boundpaper/src"]
os.environ["PYTHONPATH"] = os.pathsep.join(map(str, SOURCES))  # programs started by tests import this checkout
os.environ.setdefault("OMP_NUM_THREADS", "1")  # waiting threads of two workers make tests four times slower
os.environ["HF_HUB_OFFLINE"] = "1"  # read when the library is imported: tests never wait for the hub
os.environ["NUMBA_CACHE_DIR"] = ""  # compiled code lies beside the sources, also for the thesis' suite and its copies
restore_signals()
PACKAGE = "name: measured\ntitle: Measured\nresources: []\n"


def pytest_collection_finish():
    """Let only one worker compile at a time; the other workers load the compiled code."""
    if "numba" in sys.modules:
        from compiled_once import compile_alone

        compile_alone(HERE.parents[2] / "out/state")


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    """Return an empty project; its data package describes the measurements."""
    root = tmp_path_factory.mktemp("empty")
    (root / "artifacts").mkdir()
    (root / "artifacts/datapackage.yaml").write_text(PACKAGE)
    return root


@pytest.fixture(autouse=True)
def _opened(monkeypatch, empty):
    """Start each test with the empty project open."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(empty))


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Return a separate project for measurements, which the command line uses as its root."""
    root = tmp_path / "project"
    (root / "artifacts").mkdir(parents=True)
    (root / "artifacts/datapackage.yaml").write_text(PACKAGE)
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(root))
    monkeypatch.chdir(root)
    return root
