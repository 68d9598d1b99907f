"""The packages alone: importable anywhere, fast to import, and independent of the thesis."""

import json
import re
import subprocess
import sys
import tomllib

import pytest

import boundpaper
import keyquery
from boundpaper.paper import crate
from conftest import ROOT

SOURCES = {name: ROOT / f"packages/{name}/src" for name in ("boundpaper", "keyquery")}
HEAVY = {"torch", "transformers", "pandas", "numba", "matplotlib", "scipy", "yaml"}


def printed_by(code, folder):
    """Run Python code in a folder, with only the two packages on its path; return what it prints."""
    paths = {"PYTHONPATH": ":".join(map(str, SOURCES.values())), "PATH": ""}
    result = subprocess.run([sys.executable, "-c", code], cwd=folder, env=paths, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "module", ["boundpaper", "keyquery", "boundpaper.tables", "boundpaper.figures", "keyquery.cli"]
)
def test_it_is_imported_in_any_folder_without_a_heavy_library(module, tmp_path):
    code = f"import json, sys, {module}; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    printed = printed_by(code, tmp_path)
    assert set(json.loads(printed)) & HEAVY == set()


@pytest.mark.parametrize("package", SOURCES)
def test_it_is_imported_in_less_than_a_third_of_a_second(package, tmp_path):
    """The CPU time of the fastest of five runs is compared, including the start of Python."""
    environment = {"PYTHONPATH": ":".join(map(str, SOURCES.values())), "PATH": ""}
    command = [sys.executable, "-c", f"import {package}, time; print(time.process_time())"]
    runs = [subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True) for _ in range(5)]
    assert min(float(run.stdout) for run in runs) < 0.3


@pytest.mark.parametrize(
    ("package", "unknown"),
    [("boundpaper", r"keyquery|analysis\.(studies|claims|population|distil)"), ("keyquery", r"analysis\.\w+")],
)
def test_package_names_no_higher_package(package, unknown):
    matches = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted(SOURCES[package].rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(rf"\b(import|from) ({unknown})", line)
    ]
    assert matches == []


def test_packages_find_no_file_by_a_path_above_them():
    """An installed package lies outside any checkout, so it may only look for files that it ships."""
    matches = [
        f"{path.relative_to(ROOT)}:{number}"
        for source in SOURCES.values()
        for path in sorted(source.rglob("*.py"))
        if "frame" not in path.parts  # a paper's own files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"__file__\)\.resolve\(\)\.parent(s\[|\.parent)", line)
    ]
    assert matches == []


def test_engine_outside_the_project_is_an_input_of_every_step(tmp_path):
    """A project without a folder `packages` depends on the files of the running engine, wherever they are."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/one.py").write_text("from boundpaper.tables import Table\n\ndef table() -> Table: ...\n")
    code = (
        "from pathlib import Path; from boundpaper.build import facts; from boundpaper.build.graph import load\ninputs "
        "= load(Path.cwd(), facts.FactReader(Path.cwd())).steps['table:one'].inputs\nprint('\\n'.join(inputs))"
    )
    printed = printed_by(code, tmp_path)
    inputs = printed.split()
    assert "tables/one.py" in inputs
    engine = str(SOURCES["boundpaper"] / "boundpaper")
    assert f"{engine}/tables/spec.py" in inputs
    assert f"{engine}/tables/templates/table.tex.j2" in inputs


def test_type_checked_user_file_covers_every_public_name():
    used = set(re.findall(r"\b(bp|kq)\.(\w+)", (ROOT / "tests/user_of_packages.py").read_text(encoding="utf-8")))
    assert used >= {("bp", name) for name in boundpaper.__all__} | {("kq", name) for name in keyquery.__all__}


def test_citation_and_version_agree():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    citation = crate.citation(ROOT)
    assert (str(citation["version"]), crate.version(ROOT)) == (version, version)
    assert citation["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    changes = (ROOT / "docs/changelog.md").read_text()
    assert re.search(rf"^## {re.escape(version)} \({citation['date-released']}\)$", changes, re.MULTILINE)
    assert (ROOT / "LICENSE").read_text().startswith("MIT")
    assert crate.cited_authors(ROOT) == "The long-context-thesis authors"
