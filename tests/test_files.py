"""Locks, drafts and temporary folders: none outlives its process, also if the process is killed."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import build
from boundpaper.build import watchman
from boundpaper.build.lock import lock
from boundpaper.build.session import clean_out
from boundpaper.errors import ThesisError
from boundpaper.store import files
from conftest import ROOT
from keyquery.measure.not_measured import as_project_error
from waiting import gone

BUILD = """
import sys
from pathlib import Path
from boundpaper.build import process
from boundpaper.build.lock import lock
with lock(Path("lock"), print):
    process.run(["sh", "-c", "sh -c 'echo $$ > started; sleep 60; echo > finished'"], Path.cwd(), 600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL])
def test_child_programs_end_with_a_killed_build_and_hold_its_lock_until_then(number, tmp_path):
    os.mkfifo(tmp_path / "started")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    build = subprocess.Popen([sys.executable, "-c", BUILD], cwd=tmp_path, env=environment)
    child = int((tmp_path / "started").read_text())
    assert not gone(child)
    build.send_signal(number)
    assert build.wait() == -number
    with lock(tmp_path / "lock", lambda who: None):
        assert gone(child)
    assert not (tmp_path / "finished").exists()


def test_killed_watchdog_is_restarted(tmp_path):
    watchman.watch(2**22 + 1)
    assert watchman._pipe is not None
    watchman._pipe.close()
    reader, writer = os.pipe()
    os.close(reader)
    watchman._pipe = os.fdopen(writer, "wb")  # a pipe without a reader
    watchman.watch(2**22 + 1)
    watchman.forget_group(2**22 + 1)
    assert watchman._pipe.fileno() >= 0


def test_lock_whose_file_was_removed_is_acquired_again(tmp_path):
    path, notified, locked = tmp_path / "out/lock", threading.Event(), threading.Event()

    def second():
        with lock(path, lambda who: notified.set()):
            locked.set()
            release.wait()

    release = threading.Event()
    waiter = threading.Thread(target=second)
    with lock(path, print):
        waiter.start()
        notified.wait()
        path.unlink()
    locked.wait()
    held = []
    third_thread = threading.Thread(target=lambda: held.append(_was_held(path, release)))
    third_thread.start()
    third_thread.join()
    waiter.join()
    assert held == [True]


def _was_held(path, release):
    """Return whether acquiring the lock at `path` waits for its holder, which the event `release` tells to let go."""
    waited = []

    def wait_note(who):
        waited.append(who)
        release.set()

    with lock(path, wait_note):
        release.set()
    return bool(waited)


def test_lock_on_a_full_disk_is_reported(tmp_path, monkeypatch):
    def no_space(stream, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", no_space)
    with pytest.raises(ThesisError, match="the disk is full"), lock(tmp_path / "out/lock", print):
        pass


def test_cleaning_waits_for_a_build(tmp_path, capsys):
    out = tmp_path / "out"
    started, cleaned = threading.Event(), []
    with lock(out / "state/lock", print):
        cleaner = threading.Thread(target=lambda: (started.set(), cleaned.append(clean_out(tmp_path))))
        cleaner.start()
        started.wait()
        while "waiting" not in capsys.readouterr().err:
            assert out.is_dir()
        assert out.is_dir()
    cleaner.join()
    assert cleaned == [True]
    assert not out.exists()
    assert clean_out(tmp_path) is False
    assert not out.exists()


@pytest.mark.parametrize("wrong", ["link", "file"])
def test_clean_refuses_a_link_or_file_in_place_of_out(wrong, tmp_path):
    (tmp_path / "kept").mkdir()
    if wrong == "link":
        (tmp_path / "out").symlink_to("kept")
    else:
        (tmp_path / "out").write_text("mine")
    with pytest.raises(ThesisError, match=r"out: is .* remove"):
        clean_out(tmp_path)
    assert (tmp_path / "kept").is_dir()
    assert os.path.lexists(tmp_path / "out")


def test_long_computed_file_is_synced_before_it_replaces_the_old(tmp_path, monkeypatch):
    order = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *arguments, name=name, real=real: (order.append(name), real(*arguments))[1]
        )
    files.write(tmp_path / "measured.csv", b"a", lasting=True)
    files.write(tmp_path / "built.tex", b"a")
    assert order == ["fsync", "replace", "replace"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_new_file_has_umask_permissions_and_existing_file_keeps_its_mode(umask, tmp_path):
    before = os.umask(umask)
    try:
        files.write(tmp_path / "folder/new", b"1")
        assert (tmp_path / "folder/new").stat().st_mode & 0o777 == 0o666 & ~umask
        (tmp_path / "mine").write_bytes(b"1")
        (tmp_path / "mine").chmod(0o640)
        files.write(tmp_path / "mine", b"2")
        assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o640, "an old file keeps its mode"
    finally:
        os.umask(before)


def _leave_draft(folder, host=""):
    """Write a draft named after a process that has ended; return its path."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    draft = folder / f".{ended.pid}-{host or files._HOST}-rows{files.PART}"
    draft.write_bytes(b"half")
    return draft


def test_temporary_files_of_dead_local_processes_only_are_swept(tmp_path):
    dead, elsewhere = _leave_draft(tmp_path), _leave_draft(tmp_path, "0a0b0c")
    kept = [files.draft(tmp_path / "rows"), tmp_path / ".mine.part", tmp_path / "a.csv"]
    for path in kept:
        path.write_bytes(b"half")
    assert files.remove_drafts(tmp_path) == [dead]
    assert all(path.exists() for path in (elsewhere, *kept))
    os.utime(elsewhere, (0, 0))
    assert files.remove_drafts(tmp_path) == [elsewhere]


def test_temporary_folder_of_a_killed_process_is_removed_by_the_next(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from boundpaper.store import files\nwith "
        "files.temporary(Path(sys.argv[1])) as folder:\n    (folder / 'half').write_text('written')\n    "
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT).returncode == -9
    (stale,) = tmp_path.iterdir()
    with files.temporary(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]
        assert folder != stale
    assert list(tmp_path.iterdir()) == []


def test_temporary_folder_belongs_to_a_process_and_ends_with_it(tmp_path):
    code = "from boundpaper.store.files import process_folder as one; assert one() == one(); print(one())"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert result.returncode == 0, result.stderr
    assert os.path.dirname(result.stdout.strip()) == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["run", "--help"], ["heads", "nowhere"], ["capture"], ["bench", "lbp"]])
def test_measuring_sweeps_old_temporary_files_first(command, lab):
    folder = lab / "out/experiments/answers"
    folder.mkdir(parents=True)
    draft = _leave_draft(folder)
    CliRunner().invoke(build.main, command)
    swept = "--help" not in command and command != ["capture"]  # an invalid command line runs nothing
    assert draft.exists() != swept


@pytest.mark.parametrize("name", [None, "out/state/numba/kernel.nbi"])
def test_full_disk_error_from_a_library_is_translated(name):
    error = OSError(errno.ENOSPC, "No space left on device", name)
    message = files.no_room_message(error)
    assert message.startswith(f"{name}: the disk is full" if name else "the output, or a cache or temporary file")
    assert str(as_project_error(error)) == message


def test_temporary_folders_of_dead_processes_only_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = _leave_draft(tmp_path).with_suffix(".folder.part")
    dead.mkdir()
    (tmp_path / "mine").mkdir()
    with files.temporary() as first, files.temporary() as second:
        (first / "x").write_text("1")
        assert first != second
        assert not dead.exists()
        assert first.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["mine"]
