"""A program and its process group end at the time limit and on Ctrl-C."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boundpaper.build import process, tex
from boundpaper.errors import MissingDependency
from waiting import gone, until

PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
open("draft", "w").write(str(child.pid))
os.rename("draft", "begun")
child.wait()
"""


class Limit:
    """A time limit that expires as soon as the program has made a file."""

    begun = Path("begun")

    def __init__(self, seconds: float, expire: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._wait, args=(expire, arguments), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        self._cancelled.set()

    def _wait(self, expire: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        until(lambda: self.begun.exists() or self._cancelled.is_set())
        expire(*arguments)


@pytest.fixture
def limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "Timer", Limit)
    monkeypatch.setattr(Limit, "begun", tmp_path / "begun")


def test_run_returns_output_and_exit_status(tmp_path: Path) -> None:
    script = "import sys; print('one', flush=True); print('two', file=sys.stderr); sys.exit(3)"
    completed = process.run([sys.executable, "-c", script], tmp_path, 10)
    assert completed == process.CompletedProgram(3, "one\ntwo\n", False)


def test_environment_is_exactly_what_is_given(tmp_path: Path) -> None:
    script = "import os; print(os.environ.get('HOME'), os.environ['SEEN'])"
    assert process.run([sys.executable, "-c", script], tmp_path, 10, {"SEEN": "yes"}).output == "None yes\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.usefixtures("limited")
def test_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    completed = process.run([sys.executable, "-c", PARENT], tmp_path, 1.0)
    assert completed.timed_out
    assert completed.returncode < 0
    child = int((tmp_path / "begun").read_text())
    until(lambda: gone(child))


@pytest.mark.usefixtures("limited")
def test_timeout_kills_what_ignores_the_first_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('begun', 'w').close(); "
        "time.sleep(1000)"
    )
    completed = process.run([sys.executable, "-c", script], tmp_path, 0.5)
    assert completed.timed_out
    assert completed.returncode == -9


def test_end_all_makes_waiting_threads_raise(tmp_path: Path) -> None:
    raised: list[BaseException] = []

    def work(number: int) -> None:
        script = f"open('started{number}', 'w').close(); import time; time.sleep(1000)"
        try:
            process.run([sys.executable, "-c", script], tmp_path, 1000)
        except process.ProgramEnded as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: len(list(tmp_path.glob("started*"))) == 2)
    try:
        process.end_all()
        for thread in threads:
            thread.join()
        assert len(raised) == 2
        with pytest.raises(process.ProgramEnded, match="not started"):
            process.run([sys.executable, "-c", "pass"], tmp_path, 10)
    finally:
        process.start_again()
    assert process.run([sys.executable, "-c", "pass"], tmp_path, 10).returncode == 0


def test_missing_tex_program_error_gives_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency) as caught:
        process.run(["pdflatex", "x.tex"], tmp_path, 1)
    assert str(caught.value).endswith(tex.TEX_INSTALL)
    assert str(caught.value).startswith("pdflatex: not installed")


def test_a_missing_other_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match=r"^no-such-program-here: not found"):
        process.run(["no-such-program-here"], tmp_path, 1)


def test_surviving_child_process_does_not_block_the_caller(tmp_path: Path) -> None:
    script = "import subprocess; subprocess.Popen(['sh', '-c', 'sleep 30; echo > late'])"
    assert process.run([sys.executable, "-c", script], tmp_path, 1000).returncode == 0
    assert not (tmp_path / "late").exists()


def test_process_registry_is_empty_after_a_run(tmp_path: Path) -> None:
    process.run([sys.executable, "-c", f"print({os.getpid()})"], tmp_path, 10)
    assert not process._running
