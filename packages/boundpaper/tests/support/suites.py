"""Parts shared by the suites: golden files, default signals, and skipped tests where programs are missing."""

import difflib
import shutil
import signal
from pathlib import Path

import pytest

PROGRAMS = ("pdflatex", "latexmk", "pdftoppm")
SIGNALS = {signal.SIGINT: signal.default_int_handler, signal.SIGQUIT: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}


def restore_signals() -> None:
    """Restore the handlers of signals that a program ignores when `nohup` or a shell's `&` starts it.

    Programs started by tests would ignore them too, and tests that send signals would hang or fail.
    """
    for number, handler in SIGNALS.items():
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


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
        expected = file.read_text()
        diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), path, "rendered now", lineterm="", n=1)
        assert text == expected, "\n".join(diff)

    return compare


def skip_without_tex(items, remedy):
    """Skip tests that need TeX if one of its programs is missing; `remedy` says how to install it."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        skip = pytest.mark.skip(reason=f"{', '.join(missing)} missing: {remedy}")
        for item in items:
            if "latex" in item.keywords:
                item.add_marker(skip)
