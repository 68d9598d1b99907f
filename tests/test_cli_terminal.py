"""Output on a terminal, and output to a pipe."""

import os
import pty
import subprocess
import sys
from contextlib import suppress

from conftest import ROOT


def on_a_terminal(*words: str) -> str:
    """Return what a command prints when its streams are a terminal."""
    terminal, there = pty.openpty()
    environment = os.environ | {"LINES": "9999", "COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "build.py", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=there, stderr=there, env=environment) as running:
        os.close(there)
        shown = b""
        with suppress(OSError):  # Linux raises this when the other end is closed
            while part := os.read(terminal, 65536):
                shown += part
        running.wait()
    os.close(terminal)
    return shown.decode()


def test_table_is_aligned_on_a_terminal_and_latex_in_a_pipe():
    shown = on_a_terminal("table", "ap_drop")
    assert "\\begin{" not in shown
    assert "Ministral-3-14Bᵃ" in shown
    piped = subprocess.run([sys.executable, "build.py", "table", "ap_drop"], cwd=ROOT, capture_output=True, text=True)
    assert "\\begin{tabular}" in piped.stdout


def test_verdicts_have_colours():
    assert "\x1b[31mcontradicted\x1b[0m" in on_a_terminal("claims", "--verdict", "contradicted")


def test_long_check_shows_its_progress():
    assert "checking tables" in on_a_terminal("check")
