"""Wheels of both packages: reproducible, with valid metadata and types, and working outside the checkout."""

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging import metadata

import boundpaper
import specimens
from boundpaper.build.vendor import write_wheels
from boundpaper.errors import SpecError
from conftest import ROOT

RUN_MAIN = "from boundpaper.cli.door import main; main()"
LATER_VERSION = "9.9.9"
USER = ROOT / "tests/user_of_packages.py"


def install(wheels, target):
    """Unpack wheels to a new folder and compile them; return the folder."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    # Checked by hash, since a test edits a file within a second of its compilation.
    compileall.compile_dir(target, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return target


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return write_wheels(tmp_path_factory.mktemp("wheels"), ("boundpaper", "keyquery"))


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory):
    return install(wheels, tmp_path_factory.mktemp("installed"))


def python(installed, folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "BOUNDPAPER_ROOT"}
    environment["PYTHONPATH"] = str(installed)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def paper(installed, tmp_path_factory):
    """Return a paper that the installed `new` wrote, with the files of the sample paper added."""
    folder = tmp_path_factory.mktemp("outside")
    result = python(installed, folder, "-c", RUN_MAIN, "new", "paper", "--title", "Recall, Checked")
    assert result.returncode == 0, result.stderr
    return specimens.fill(folder / "paper")


def test_wheel_is_reproducible_and_accepted_by_pip(wheels, tmp_path):
    assert [path.read_bytes() for path in write_wheels(tmp_path, ("boundpaper", "keyquery"))] == [
        path.read_bytes() for path in wheels
    ]
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", tmp_path / "there"]
    result = subprocess.run([*command, *wheels], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "there/boundpaper/frame/pyproject.in").is_file()
    assert (tmp_path / "there/keyquery/tiny/tiny-rope/config.json").is_file()
    for licence in (*(tmp_path / "there").glob("*.dist-info/licenses/LICENSE"), *ROOT.glob("packages/*/LICENSE")):
        assert licence.read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("package", ["boundpaper", "keyquery"])
def test_wheel_contains_its_type_stubs(wheels, package):
    [wheel] = [path for path in wheels if path.name.startswith(package)]
    with zipfile.ZipFile(wheel) as archive:
        assert {f"{package}/py.typed", f"{package}/__init__.pyi"} <= set(archive.namelist())


def test_wheel_metadata_are_valid_and_contain_the_readme(wheels):
    """The checks are those of `twine check`; twine itself would need the packages keyring and cryptography."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            [name] = [member for member in archive.namelist() if member.endswith(".dist-info/METADATA")]
            parsed = metadata.Metadata.from_email(archive.read(name), validate=True)
        assert (parsed.description_content_type, parsed.license_expression) == ("text/markdown", "MIT")
        assert parsed.description is not None
        assert parsed.description.strip() == (ROOT / f"packages/{parsed.name}/README.md").read_text().strip()


def test_wheels_provide_every_public_name_with_its_type(installed, tmp_path):
    """Types of torch and transformers are skipped, since reading them takes a minute; `make lint` reads them."""
    (tmp_path / "user.py").write_text(USER.read_text(encoding="utf-8") + "\n\nreveal_type(kq.load('tiny-rope'))\n")
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = true\n[mypy-torch.*,transformers.*,matplotlib.*,scipy.*]\n"
        "follow_imports = skip\nignore_missing_imports = true\n"
    )
    result = python(installed, tmp_path, "-m", "mypy", "--cache-dir", os.devnull, "user.py")
    assert re.fullmatch(
        r'user\.py:\d+: note: Revealed type is "keyquery\.opened\.Model"\nSuccess: .* in 1 source file\n', result.stdout
    ), result.stdout + result.stderr


def test_missing_package_is_reported_by_vendor(tmp_path):
    with pytest.raises(SpecError, match="nosuchthing is not installed; install it: "):
        write_wheels(tmp_path, ("nosuchthing",))


def test_package_with_a_newer_version_than_installed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(boundpaper, "__version__", LATER_VERSION)
    with pytest.raises(SpecError, match=rf"boundpaper is {LATER_VERSION}, but its metadata says .*; install it again"):
        write_wheels(tmp_path, ("boundpaper",))


def test_current_paper_is_used_regardless_of_the_outer_process(installed, paper, tmp_path):
    code = f"import os; os.environ['BOUNDPAPER_ROOT'] = {str(ROOT)!r}; {RUN_MAIN}"
    result = python(installed, paper, "-c", code, "list", "table")
    assert "recall_loss" in result.stdout
    assert "ap_drop" not in result.stdout
    result = python(installed, tmp_path, "-c", code, "list", "table")
    assert (result.returncode, "no project here or above" in result.stderr) == (1, True)


def test_it_is_the_installed_engine_that_runs(installed, tmp_path):
    result = python(
        installed, tmp_path, "-c", "import boundpaper, keyquery; print(boundpaper.__file__, keyquery.__file__)"
    )
    assert result.stdout.split() == [str(installed / f"{name}/__init__.py") for name in ("boundpaper", "keyquery")]


@pytest.mark.latex
def test_new_paper_builds_its_pdf_from_wheels(installed, paper):
    for command in (("analyze",), ("check",), ("table", "recall_loss"), ("paper",), ("paper",)):
        result = python(installed, paper, "build.py", *command)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
    assert (paper / "out/thesis.pdf").read_bytes().startswith(b"%PDF")
    assert not (paper / "packages").exists()


def test_a_command_outside_of_a_paper_says_where_to_go(installed, tmp_path):
    result = python(installed, tmp_path, "-c", RUN_MAIN, "check")
    assert result.returncode == 1
    assert re.fullmatch(r"error: .*no project here or above; go to the folder with .*\n", result.stderr)


def test_newer_engine_builds_the_paper_unchanged(installed, paper, tmp_path):
    """A newer version of the engine builds the same results from an unchanged paper."""
    newer = Path(shutil.copytree(installed, tmp_path / "newer"))
    init = newer / "boundpaper/__init__.py"
    init.write_text(init.read_text().replace(f'"{boundpaper.__version__}"', f'"{LATER_VERSION}"'))
    assert python(installed, paper, "build.py", "analyze").returncode == 0
    before = {path.name: path.read_bytes() for path in (paper / "artifacts/results").glob("*.csv")}
    assert before
    assert python(installed, paper, "build.py", "why", "result:recall_drop").stdout.endswith("is up to date\n")
    printed = python(newer, paper, "build.py", "--version").stdout
    assert f"boundpaper {LATER_VERSION}" in printed
    result = python(newer, paper, "build.py", "analyze")
    assert result.returncode == 0, result.stderr
    assert {path.name: path.read_bytes() for path in (paper / "artifacts/results").glob("*.csv")} == before


def test_plasticity_of_arrays_needs_no_torch_and_no_project(installed, tmp_path):
    code = """
import sys
import numpy as np
from keyquery.heads.head import Head
from keyquery.heads.plasticity import PlasticityOptions, plasticity

rng = np.random.default_rng(0)
n, size = 512, 8
positions, documents = np.arange(n), np.zeros(n, dtype=int)
head = Head(
    queries=rng.normal(size=(n, size)), keys=rng.normal(size=(n, size)), query_positions=positions,
    key_positions=positions, query_documents=documents, key_documents=documents, context=n,
)
result = plasticity(head, PlasticityOptions(estimator="bucket_full", bins=4, min_queries=8))
print(len(result.queries), "torch" in sys.modules, "pandas" in sys.modules)
"""
    result = python(installed, tmp_path, "-c", code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["4", "False", "False"]


@pytest.mark.models
def test_a_model_is_captured_and_analysed_in_a_paper_elsewhere(installed, paper, tmp_path):
    pytest.importorskip("torch")
    options = ("--model", "tiny-rope", "--texts", "manual:evaluation", "--documents", "1", "--context", "128")
    result = python(
        installed, paper, "build.py", "capture", *options, "--device", "cpu", "--out", str(tmp_path / "cap")
    )
    assert result.returncode == 0, result.stderr
    heads = ("heads", str(tmp_path / "cap"), "--bins", "2", "--min-queries", "4", "-j", "1", "--name", "own")
    result = python(installed, paper, "build.py", *heads)
    assert result.returncode == 0, result.stderr
    assert list((paper / "artifacts/measurements/head_metrics").glob("own.*"))
    assert python(installed, paper, "build.py", "check").returncode == 0
