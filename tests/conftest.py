"""Fixtures: the project that goldens are rendered from, and throw-away copies of it."""

import compileall
import difflib
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import warmed
from heeded import heed_signals

settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")  # no test fails by the clock

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden"
PACKAGES = os.pathsep.join(str(path) for path in sorted(ROOT.glob("packages/*/src")))  # for PYTHONPATH
os.environ["XDG_STATE_HOME"] = tempfile.gettempdir() + "/long-context-thesis-tests"  # no key in the tester's home
os.environ["PYTHONPATH"] = PACKAGES  # programs that tests start import what lies here
os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of two workers that wait for each other take four times as long
os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported: no test waits for a hub, or asks one again
os.environ["NUMBA_CACHE_DIR"] = ""  # beside the sources, from where copies of the project take it along
ROOMS = ("analysis", "figures", "packages", "tables")
PROGRAMS = ("pdflatex", "latexmk", "pdftoppm")


heed_signals()


def pytest_configure(config):
    """Compile the project once: `build.py` writes nothing beside the sources, and copies take what is there along."""
    if not hasattr(config, "workerinput"):
        for room in ROOMS:
            compileall.compile_dir(ROOT / room, quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage among what the suite imports, which stays: neither now nor whenever a test collects."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files of what is rendered")


BUILT = {"project", "warm", "shipped", "golden", "built"}  # fixtures that copy or build the project
# files of ten seconds of processor time or more, the longest first
LONGEST = ["docs", "wheels", "kernels", "extending", "cli_capture", "experiments_heads", "cli", "face_keyquery"]
LONGEST += ["population_training", "population_retrained", "study", "cli_run", "own_paper"]


def pytest_collection_modifyitems(items):
    slow = {item for item in items if BUILT & set(item.fixturenames) or {"latex", "models"} & set(item.keywords)}
    # modules that build or load come first: one that is long and last leaves the other workers idle; before those that
    # wait for the analysed project come those that do not, or all workers would wait for the first one to analyse it
    long = {item.path for item in slow}
    waiting = {item.path for item in items if {"shipped", "warm"} & set(item.fixturenames)}
    first = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    long |= {item.path for item in items if item.path.stem in first}
    items.sort(key=lambda item: (item.path not in long, item.path in waiting, first.get(item.path.stem, len(LONGEST))))
    absent = [program for program in PROGRAMS if not shutil.which(program)]
    if absent:
        skip = pytest.mark.skip(reason=f"{', '.join(absent)} missing: run `python build.py doctor`")
        for item in items:
            if "latex" in item.keywords:
                item.add_marker(skip)


def _tracked(*folders: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    return listed.stdout.split("\n")[:-1]


def copy_project(target: Path) -> Path:
    """Copy the project without what was built, and without measurements that it does not ship."""
    ignored = shutil.ignore_patterns("out", ".*", "golden", "*.egg-info")
    shutil.copytree(ROOT, target, ignore=ignored)  # with time stamps: what is compiled once serves every copy
    shipped = set(_tracked("artifacts/measurements"))
    for path in (target / "artifacts/measurements").glob("*/*"):
        if path.relative_to(target).as_posix() not in shipped:
            path.unlink()
    return target


def run(root: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    """Run the command line of the project in `root`; with options, by an interpreter that knows no library yet."""
    if not options:
        return warmed.run(root, "build.py", *arguments)
    command = [sys.executable, "build.py", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, **options)


@pytest.fixture(autouse=True)
def _opened(monkeypatch):
    """Begin each test with this project open; a command of the test opens another one."""
    monkeypatch.setenv("BOUNDPAPER_ROOT", str(ROOT))


@pytest.fixture
def project(tmp_path):
    """A copy of the project that a test may change."""
    return copy_project(tmp_path / "project")


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A project of its own for measurements, which the command line takes for the root."""
    root = tmp_path / "project"
    (root / "artifacts").mkdir(parents=True)
    (root / "artifacts/datapackage.yaml").write_bytes((ROOT / "artifacts/datapackage.yaml").read_bytes())
    monkeypatch.setattr("build.ROOT", root)
    return root


@pytest.fixture(scope="session")
def shipped(tmp_path_factory):
    """A project whose results rest on shipped artifacts only, freshly analysed.

    This one, unless somebody's own measurements lie in it: then a copy without them, so that goldens stay green.
    """
    tracked = set(_tracked("artifacts/measurements"))
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "artifacts/measurements").glob("*/*")}
    root = ROOT if files <= tracked or not tracked else copy_project(tmp_path_factory.mktemp("shipped") / "project")
    done = run(root, "analyze")
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def warm(project, shipped):
    """A copy of the project in which everything was analysed: a test pays for what it changes and no more."""
    for name in ("state", "checked", "bound", "claims"):
        if (shipped / "out" / name).is_dir():
            ignored = shutil.ignore_patterns("lock", "*.part")
            shutil.copytree(shipped / "out" / name, project / "out" / name, ignore=ignored)
    return project


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
