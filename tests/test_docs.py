"""The documentation is current; `tests/check_site.py` checks the site that is made from it."""

import os
import re
import subprocess
import sys
from importlib import metadata
from itertools import groupby
from typing import Any

import pytest

import boundpaper
import keyquery
from boundpaper.cli.exhibits import table
from conftest import ROOT, copy_project

sys.path.insert(0, str(ROOT / "docs"))
import hooks

WALKS = sorted((ROOT / "docs/walks").glob("*.md"))
RUN = re.compile(r"^    python build\.py (.+)$", re.MULTILINE)
TRACER = """
import sys, threading
first = {}
def seen(frame, event, argument):  # it returns nothing, so only calls are traced and no lines
    first.setdefault(frame.f_code)
threading.settrace(seen)
sys.settrace(seen)
from build import main
main.main(sys.argv[1:], prog_name="build.py", standalone_mode=False)
sys.settrace(None)
print(*(f"{code.co_filename}:{code.co_qualname}" for code in list(first)), sep="\\n", file=sys.stderr)
"""


def test_every_error_kind_is_documented_with_cause_and_remedy():
    sections = re.split(r"^## ", (ROOT / "docs/errors.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:-1]
    assert {section.split("\n")[0] for section in sections} == set(hooks.error_kinds()) >= {"NotFinite", "JobDied"}
    assert all("**Cause**: " in section and "**Mend**: " in section for section in sections)


@pytest.mark.parametrize("walk", WALKS, ids=lambda path: path.stem)
def test_code_walk_lists_functions_in_call_order(walk, tmp_path):
    """Functions after `**The document**` are only looked up in their files, since running LaTeX takes minutes."""
    text, _, document_part = walk.read_text(encoding="utf-8").partition("**The document**")
    root = copy_project(tmp_path / "project")
    stops = [(match.start(), match[1], match[2]) for match in hooks.STOP.finditer(text)]
    for _, name, file in (*stops, *((0, match[1], match[2]) for match in hooks.STOP.finditer(document_part))):
        function = name.rpartition(".")[2]
        assert re.search(rf"^\s*def {function}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), name
    commands = [(match.start(), match[1]) for match in RUN.finditer(text)]
    for command, stops_of_command in groupby(
        stops, key=lambda stop: max(command for command in commands if command[0] < stop[0])
    ):
        result = subprocess.run(
            [sys.executable, "-c", TRACER, *command[1].split()],
            cwd=root,
            env=os.environ | {"NUMBA_DISABLE_JIT": "1"},  # calls of compiled functions cannot be traced
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr[-2000:]
        called = [line.replace(f"{ROOT}/", "").replace(f"{root}/", "") for line in result.stderr.splitlines()]
        expected = [f"{file}:{'.'.join(name.split('.')[len(module(file)) :])}" for _, name, file in stops_of_command]
        assert [line for line in called if line in expected] == expected


def module(file):
    """Return the components of a module's dotted name, given the path of its file."""
    return file.rpartition("/src/")[2].removesuffix(".py").removesuffix("/__init__").split("/")


def test_both_packages_and_the_changelog_have_one_version():
    """Metadata of the wheels take the version from `__version__`."""
    version = boundpaper.__version__
    assert keyquery.__version__ == version
    assert metadata.version("boundpaper") == metadata.version("keyquery") == version
    assert re.search(rf"^## {re.escape(version)} ", (ROOT / "docs/changelog.md").read_text("utf-8"), re.MULTILINE)


def test_changelog_lines_are_at_most_160_characters():
    lines = (ROOT / "docs/changelog.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 160] == []


def test_pre_commit_hooks_equal_make_lint():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = "".join(re.findall(r"^(?:style|lint):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    hooked = re.findall(r"entry: \.venv/bin/(?:python -m )?([^,]+),", (ROOT / ".pre-commit-config.yaml").read_text())
    run = re.findall(r"\$\((?:PY\) -m |VENV\)/bin/)(.+)", recipe)
    assert sorted(line.removesuffix(" .") for line in run) == sorted(hooked)


def test_counts_in_the_readme_are_those_of_the_files():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    format_type = next(dict(option.type.to_info_dict()) for option in table.params if option.name == "format")
    choices: Any = format_type["choices"]
    small_models = [*(ROOT / "packages/keyquery/src/keyquery/tiny").glob("tiny-*")]
    spelt = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}
    assert f"in one of {spelt[len(choices)]} formats" in readme
    assert f"{spelt[len(WALKS)]} walks through the code" in readme
    assert f"of the {spelt[len(small_models)]} small models that come with the thesis" in readme
