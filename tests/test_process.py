"""Programs end with their group, on time and on Ctrl-C."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from artifacts import process
from artifacts.errors import MissingDependency


def gone(pid: int) -> bool:
    """Whether a process has left, or is a zombie that nobody has collected yet."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("child", "w").write(str(child.pid))
child.wait()
"""


def test_output_and_status(tmp_path: Path) -> None:
    script = "import sys; print('one', flush=True); print('two', file=sys.stderr); sys.exit(3)"
    done = process.run([sys.executable, "-c", script], tmp_path, 10)
    assert done == process.Completed(3, "one\ntwo\n", False)


def test_environment_is_exactly_what_is_given(tmp_path: Path) -> None:
    script = "import os; print(os.environ.get('HOME'), os.environ['SEEN'])"
    assert process.run([sys.executable, "-c", script], tmp_path, 10, {"SEEN": "yes"}).output == "None yes\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    start = time.monotonic()
    done = process.run([sys.executable, "-c", PARENT], tmp_path, 1.0)
    assert done.timed_out
    assert done.returncode < 0
    assert time.monotonic() - start < 10
    assert gone(int((tmp_path / "child").read_text()))


def test_timeout_kills_what_ignores_the_first_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    done = process.run([sys.executable, "-c", script], tmp_path, 0.5)
    assert done.timed_out
    assert done.returncode in (-9, -15)  # -15 when the limit struck before the handler was set


def test_end_all_makes_waiting_threads_raise(tmp_path: Path) -> None:
    raised: list[BaseException] = []

    def work(number: int) -> None:
        script = f"open('started{number}', 'w').close(); import time; time.sleep(60)"
        try:
            process.run([sys.executable, "-c", script], tmp_path, 60)
        except process.Ended as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 10
    while len(list(tmp_path.glob("started*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    try:
        process.end_all()
        for thread in threads:
            thread.join(10)
        assert len(raised) == 2
        with pytest.raises(process.Ended, match="not started"):
            process.run([sys.executable, "-c", "pass"], tmp_path, 10)
    finally:
        process.start_again()
    assert process.run([sys.executable, "-c", "pass"], tmp_path, 10).returncode == 0


def test_a_missing_tex_program_prints_the_install_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency) as caught:
        process.run(["pdflatex", "x.tex"], tmp_path, 1)
    assert str(caught.value).endswith(process.TEX_INSTALL)
    assert str(caught.value).startswith("pdflatex: not installed")


def test_a_missing_other_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match=r"^no-such-program-here: not found"):
        process.run(["no-such-program-here"], tmp_path, 1)


def test_a_leftover_child_does_not_hold_the_caller(tmp_path: Path) -> None:
    script = "import subprocess, sys; subprocess.Popen(['sleep', '30'])"
    start = time.monotonic()
    assert process.run([sys.executable, "-c", script], tmp_path, 60).returncode == 0
    assert time.monotonic() - start < 10


def test_nothing_of_ours_is_left_in_the_registry(tmp_path: Path) -> None:
    process.run([sys.executable, "-c", f"print({os.getpid()})"], tmp_path, 10)
    assert not process._live
