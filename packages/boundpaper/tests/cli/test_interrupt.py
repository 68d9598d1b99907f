"""Ctrl-C ends a command within a second, whatever its threads are doing."""

import signal
import subprocess
import sys
import time

import click
import pytest
from click.testing import CliRunner

from boundpaper.build import interrupt
from boundpaper.cli import door

BEGIN = """
import hashlib, sys, threading, time
from boundpaper.build import interrupt
interrupt.end_promptly()
print("begun", flush=True)
"""
LIBRARY = "hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"  # over a minute without signal handling
THREAD = "threading.Thread(target=time.sleep, args=(99,)).start()"
SWALLOWED = """
try:
    time.sleep(99)
except KeyboardInterrupt:
    time.sleep(99)
"""
BY_ITSELF = """
try:
    time.sleep(99)
except KeyboardInterrupt:
    interrupt.announce()
    sys.exit(7)
"""
PATIENT = """
try:
    time.sleep(99)
except KeyboardInterrupt:
    with interrupt.delay_exit():
        time.sleep(3)
        print("taken back", flush=True)
    time.sleep(99)
"""
COMMAND = """
import click
from boundpaper.cli import door

@click.command()
def waits():
    try:
        time.sleep(99)
    except KeyboardInterrupt:
        {after}

door.Commands(commands={{"waits": waits}})(["waits"])
"""


def interrupt_program(code):
    """Send Ctrl-C to a program; return its exit status, the seconds until it ends, its output and its errors."""
    command = [sys.executable, "-c", BEGIN + code]
    program = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "begun\n"
        time.sleep(0.5)
        start = time.monotonic()
        program.send_signal(signal.SIGINT)
        output, errors = program.communicate(timeout=60)
        return program.returncode, time.monotonic() - start, output, errors
    finally:
        program.kill()


@pytest.mark.parametrize("code", [LIBRARY, THREAD + LIBRARY.join(";\n"), SWALLOWED])
def test_ctrl_c_ends_a_command_that_would_not_end(code):
    status, seconds, _, errors = interrupt_program(code)
    assert status == interrupt.CODE
    assert errors == interrupt.MESSAGE + "\n"
    assert seconds < 30, "uninterrupted it runs for over a minute"


def test_ctrl_c_lets_a_command_end_by_itself():
    status, _, _, errors = interrupt_program(BY_ITSELF)
    assert (status, errors) == (7, interrupt.MESSAGE + "\n")


def test_ctrl_c_gives_a_command_time_to_cancel_remote_jobs():
    status, seconds, output, _ = interrupt_program(PATIENT)
    assert (status, output) == (interrupt.CODE, "taken back\n")
    assert seconds >= 3


@pytest.mark.parametrize(
    "after", ["raise", "raise ValueError('a library was interrupted')", "raise OSError('so was this')"]
)
def test_library_error_after_ctrl_c_counts_as_interrupt_and_threads_are_not_awaited(after):
    status, seconds, _, errors = interrupt_program(THREAD + COMMAND.format(after=after))
    assert (status, errors) == (interrupt.CODE, interrupt.MESSAGE + "\n")
    assert seconds < 30, "the thread alone runs for over a minute"


@pytest.mark.parametrize("error", [ValueError("own"), KeyError("own")])
def test_an_error_of_the_program_keeps_its_traceback(error):
    @click.command()
    def wrong():
        raise error

    result = CliRunner().invoke(door.Commands(commands={"wrong": wrong}), ["wrong"])
    assert result.exception is error


IMPORTS = """
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["boundpaper", "list"]
{run}
"""


@pytest.mark.parametrize("module", ["click", "boundpaper.cli.door", "boundpaper.cli"])
@pytest.mark.parametrize(
    "run",
    [
        "runpy.run_path('build.py', run_name='__main__')",
        "runpy.run_module('boundpaper', run_name='__main__')",
        "from boundpaper.__main__ import main; main()",
    ],
)
def test_ctrl_c_during_import_of_commands_ends_silently(module, run, specimen):
    code = IMPORTS.format(module=module, run=run)
    result = subprocess.run([sys.executable, "-c", code], cwd=specimen, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (-signal.SIGINT, "", "")


def test_every_interrupted_command_in_a_process_prints_the_message():
    @click.command()
    def stopped():
        raise KeyboardInterrupt

    group = door.Commands(commands={"stopped": stopped}, params=[click.Option(["--debug"], is_flag=True)])
    for _ in range(2):
        result = CliRunner().invoke(group, ["stopped"])
        assert (result.exit_code, result.stderr) == (interrupt.CODE, interrupt.MESSAGE + "\n")
