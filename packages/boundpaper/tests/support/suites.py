"""What the suites share: golden files, in the folder `golden` of a suite, and programs that not every machine has."""

import difflib
import shutil
from pathlib import Path

import pytest

PROGRAMS = ("pdflatex", "latexmk", "pdftoppm")


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with today's output")


@pytest.fixture
def golden(request):
    """Return a function that compares a text with a golden file, or rewrites the file with `--update-golden`."""
    suite = next(folder for folder in Path(request.path).parents if folder.name == "tests")

    def compare(path: str, text: str) -> None:
        file = suite / "golden" / path
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        assert file.is_file(), f"golden file {path} is missing; create it with --update-golden and check it"
        known = file.read_text()
        diff = difflib.unified_diff(known.splitlines(), text.splitlines(), path, "rendered now", lineterm="", n=1)
        assert text == known, "\n".join(diff)

    return compare


def skip_without_tex(items, mend):
    """Skip tests that need TeX if one of its programs is missing; `mend` says how to install it."""
    absent = [program for program in PROGRAMS if not shutil.which(program)]
    if absent:
        skip = pytest.mark.skip(reason=f"{', '.join(absent)} missing: {mend}")
        for item in items:
            if "latex" in item.keywords:
                item.add_marker(skip)
