"""Fixtures of the instruments' suite, which runs without TeX and without the thesis beside which it lies."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from heeded import heed_signals

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails by the clock

HERE = Path(__file__).parent
SOURCES = [HERE.parent / "src", HERE.parents[1] / "boundpaper/src"]
os.environ["PYTHONPATH"] = os.pathsep.join(map(str, SOURCES))  # programs that tests start import what lies here
os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of two workers that wait for each other take four times as long
os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported: no test waits for a hub, or asks one again
# as for commands in the checkout, and not for each project that a test makes: what is compiled is compiled once
os.environ.setdefault("NUMBA_CACHE_DIR", str(HERE.parents[2] / "out/state/numba"))
heed_signals()
PACKAGE = "name: measured\ntitle: Measured\nresources: []\n"


def pytest_collection_finish():
    """Have one worker at a time compile, if a test does: what one has compiled, the others load."""
    if "numba" in sys.modules:
        from compiled_once import compile_alone

        compile_alone(Path(os.environ["NUMBA_CACHE_DIR"]))


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    """A project that holds nothing: what is measured in it is described by the package."""
    root = tmp_path_factory.mktemp("empty")
    (root / "artifacts").mkdir()
    (root / "artifacts/datapackage.yaml").write_text(PACKAGE)
    return root


@pytest.fixture(autouse=True)
def _opened(monkeypatch, empty):
    """Begin each test with the empty project open."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(empty))


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A project of its own for measurements, which the command line takes for the root."""
    root = tmp_path / "project"
    (root / "artifacts").mkdir(parents=True)
    (root / "artifacts/datapackage.yaml").write_text(PACKAGE)
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(root))
    monkeypatch.chdir(root)
    return root
