"""Fixtures of the thesis' tests: the project, and copies of it that a test may change."""

import compileall
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import warmed
import warmed_models
from suites import golden as golden
from suites import pytest_addoption as pytest_addoption
from suites import restore_signals, skip_without_tex

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails because the machine is slow

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden"
PACKAGES = os.pathsep.join(str(path) for path in sorted(ROOT.glob("packages/*/src")))  # for PYTHONPATH
os.environ["XDG_STATE_HOME"] = tempfile.gettempdir() + "/long-context-thesis-tests"  # keeps keys out of the user's home
os.environ["PYTHONPATH"] = PACKAGES  # programs started by tests import this checkout's packages
os.environ.setdefault("OMP_NUM_THREADS", "1")  # waiting threads of two workers make tests four times slower
os.environ["HF_HUB_OFFLINE"] = "1"  # read when the library is imported: tests never wait for the hub
os.environ["NUMBA_CACHE_DIR"] = ""  # compiled code lies beside the sources, and copies of the project include it
ROOMS = ("analysis", "figures", "packages", "tables")


restore_signals()


def pytest_configure(config):
    """Compile the project once: `build.py` writes no byte code, and copies of the project include the compiled code."""
    if not hasattr(config, "workerinput"):
        for room in ROOMS:
            compileall.compile_dir(ROOT / room, quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Disable garbage collection while the suite is imported, and exempt the imported objects from it later."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


BUILT = {"project", "warm", "built_project", "golden", "built"}  # fixtures that copy or build the project
# Test files that take at least ten seconds of CPU time, longest first.
LONGEST = ["docs", "wheels", "extending", "cli_capture", "experiments_heads", "cli", "face_keyquery"]
LONGEST += ["population_training", "population_retrained", "study", "cli_run", "own_paper"]


def pytest_collection_modifyitems(items):
    # Slow modules come first, since a slow last module leaves the other workers idle. Among them, modules that do not
    # need the analysed project come first; otherwise all workers would wait until one has analysed it.
    rank = {f"test_{name}": number for number, name in enumerate(LONGEST)}
    slow = {
        item.path
        for item in items
        if BUILT & {*item.fixturenames} or {"latex", "models"} & {*item.keywords} or item.path.stem in rank
    }
    analysed = {item.path for item in items if {"built_project", "warm"} & {*item.fixturenames}}
    items.sort(key=lambda item: (item.path not in slow, item.path in analysed, rank.get(item.path.stem, len(LONGEST))))
    skip_without_tex(items, "run `python build.py doctor`")


def _tracked(*folders: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    return listed.stdout.split("\n")[:-1]


def copy_project(target: Path) -> Path:
    """Copy the project without build outputs, and without measurements that are not committed."""
    ignored = shutil.ignore_patterns("out", ".*", "golden", "*.egg-info")
    shutil.copytree(ROOT, target, ignore=ignored)  # keeps time stamps, so that compiled files stay valid in every copy
    committed = set(_tracked("artifacts/measurements"))
    for path in (target / "artifacts/measurements").glob("*/*"):
        if path.relative_to(target).as_posix() not in committed:
            path.unlink()
    return target


def capture_lab(folder: Path, documents: int) -> Path:
    """Write a copy of the project, a small model and texts below `folder`."""
    from models_tiny import saved, text

    saved("llama", folder / "tiny")
    rows = [json.dumps({"id": f"t{number}", "text": text(40, number)}) for number in range(documents)]
    (folder / "texts.jsonl").write_text("\n".join(rows))
    copy_project(folder / "project")
    return folder


def run(root: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    """Run the project's command line in `root`; with options, in a new interpreter without imported libraries."""
    if not options:
        program = warmed_models.PROGRAM if arguments[0] in warmed_models.MEASURING else warmed.__file__
        return warmed.run(root, "build.py", *arguments, program=program)
    command = [sys.executable, "build.py", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, **options)


@pytest.fixture(autouse=True)
def _opened(monkeypatch):
    """Start each test with this project as the open project, also after a test that opened another."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(ROOT))


@pytest.fixture
def project(tmp_path):
    """Return a copy of the project that a test may change."""
    return copy_project(tmp_path / "project")


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Return the folder of a project without artifacts; `build.py` uses this folder as its root."""
    root = tmp_path / "project"
    (root / "artifacts").mkdir(parents=True)
    (root / "artifacts/datapackage.yaml").write_bytes((ROOT / "artifacts/datapackage.yaml").read_bytes())
    monkeypatch.setattr("build.ROOT", root)
    return root


@pytest.fixture(scope="session")
def built_project(tmp_path_factory):
    """Analyse this project or, if it has uncommitted measurements, a copy without them; return the analysed root.

    The golden files were rendered from committed measurements only.
    """
    tracked = set(_tracked("artifacts/measurements"))
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "artifacts/measurements").glob("*/*")}
    root = ROOT if files <= tracked or not tracked else copy_project(tmp_path_factory.mktemp("shipped") / "project")
    result = run(root, "analyze")
    assert result.returncode == 0, result.stderr
    return root


@pytest.fixture
def warm(project, built_project):
    """Return a copy of the analysed project, in which a test rebuilds only what it changes."""
    for name in ("state", "checked", "bound", "claims"):
        if (built_project / "out" / name).is_dir():
            ignored = shutil.ignore_patterns("lock", "*.part")
            shutil.copytree(built_project / "out" / name, project / "out" / name, ignore=ignored)
    return project
