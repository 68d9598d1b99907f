"""Output on a terminal is aligned, coloured and paged; output to a pipe is not."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

from conftest import ROOT

ONE_STEP = """
import sys, time
from boundpaper.build.session import Progress
progress = Progress()
with progress.shown(1):
    progress.report("start", "thesis:thesis", "")
    time.sleep(2)
    print("the end", file=sys.stderr)
"""


def on_a_terminal(*arguments: str, program: tuple[str, ...] = ("build.py",), lines: int = 9999) -> str:
    """Run a command whose streams are a terminal; return what it prints."""
    terminal, stream = pty.openpty()
    environment = os.environ | {"LINES": str(lines), "COLUMNS": "100", "TERM": "xterm", "PAGER": "sed s/^/paged:/"}
    command = [sys.executable, *program, *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=stream, stdout=stream, stderr=stream, env=environment) as running:
        os.close(stream)
        printed = b""
        with suppress(OSError):  # Linux raises this when the command has closed its end
            while block := os.read(terminal, 65536):
                printed += block
        running.wait()
    os.close(terminal)
    return printed.decode()


def test_table_is_aligned_on_a_terminal_and_latex_in_a_pipe():
    shown = on_a_terminal("table", "ap_drop")
    assert "\\begin{" not in shown
    assert "Ministral-3-14Bᵃ" in shown
    piped = subprocess.run([sys.executable, "build.py", "table", "ap_drop"], cwd=ROOT, capture_output=True, text=True)
    assert "\\begin{tabular}" in piped.stdout


def test_verdicts_have_colours():
    assert "\x1b[31mcontradicted\x1b[0m" in on_a_terminal("claims", "--verdict", "contradicted")


def test_text_longer_than_the_window_goes_through_the_pager():
    assert "paged:" not in on_a_terminal("table", "ap_drop")
    assert "paged:LongBench Pro" in on_a_terminal("table", "ap_drop", lines=10)


def test_a_format_is_the_same_on_a_terminal_and_in_a_pipe():
    command = ("table", "ap_drop", "--format", "csv")
    piped = subprocess.run([sys.executable, "build.py", *command], cwd=ROOT, capture_output=True, text=True)
    assert on_a_terminal(*command).replace("\r\n", "\n") == piped.stdout


def test_kinds_are_listed_with_captions():
    assert re.search(r"(?m)^effect_overview +The effects that", on_a_terminal("list", "figure"))


def test_a_long_command_shows_its_progress_and_ends_with_its_time():
    assert "compiling chapter provenance" in on_a_terminal("chapter", "provenance")
    assert re.search(r"checking tables.* took \d+\.\d s", on_a_terminal("check"))


def test_one_long_step_is_shown_while_it_runs():
    shown = on_a_terminal(program=("-c", ONE_STEP))
    assert "thesis:thesis" in shown.partition("the end")[0]
