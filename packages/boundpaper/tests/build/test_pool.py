"""A pool of processes ends with the command that started it, even if a worker ignores signals."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pool_work
from boundpaper.build import pool, watchman
from boundpaper.build.session import Session
from waiting import gone, until

PROGRAM = """
import sys, time
from multiprocessing import active_children
from pathlib import Path
import pool_work
from boundpaper.build.pool import process_pool
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with process_pool(2) as workers:
        for _ in range(2):
            workers.submit(pool_work.deaf_in, folder)
        print(*(child.pid for child in active_children()), flush=True)
        time.sleep(1000)
"""


@contextmanager
def command(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Yield a command whose two pool workers ignore everything once started, and the workers' process ids."""
    (folder / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "program.py", str(folder)]
    with subprocess.Popen(
        argv, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            assert running.stdout is not None
            yield running, [int(number) for number in running.stdout.readline().split()]
        finally:
            running.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_idle_workers_end_when_their_command_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    with command(tmp_path) as (running, workers):
        assert len(workers) == 2
        until(lambda: all((tmp_path / str(worker)).exists() for worker in workers))
        running.send_signal(number)
        running.wait()
        until(lambda: all(gone(worker) for worker in workers))


def test_starting_workers_end_when_their_command_is_killed(tmp_path: Path) -> None:
    """These workers have not yet started to watch their parent, but the watchman knows them from the start."""
    with command(tmp_path) as (running, workers):
        running.kill()
        running.wait()
        until(lambda: all(gone(worker) for worker in workers))
        time.sleep(0.2)
    assert not [name for name in os.listdir(tmp_path) if name.isdecimal()]


def test_watchdog_forgets_a_worker_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[tuple[str, int]] = []

    def noted(word: str) -> Callable[[int], None]:
        return lambda process: ended.append((word, process))

    monkeypatch.setattr(watchman, "watch_process", noted("+"))
    monkeypatch.setattr(watchman, "forget_process", noted("-"))
    with pool.process_pool(2) as workers:
        assert [call.result() for call in [workers.submit(pool_work.square, number) for number in (2, 3)]] == [4, 9]
    begun = {process for word, process in ended if word == "+"}
    assert begun
    assert {process for word, process in ended if word == "-"} == begun
    assert not any(ended.index(("-", process)) < ended.index(("+", process)) for process in begun)


def test_a_build_looks_for_cycles_seldom_and_so_do_its_workers(tmp_path: Path) -> None:
    before, workers = gc.get_threshold(), pool.ProcessWorkers(1)
    with Session.opened(tmp_path):
        assert gc.get_threshold()[0] == pool.GC_THRESHOLD
        workers.begin()
        assert workers.result(workers.submit(gc.get_threshold))[0] == pool.GC_THRESHOLD
        workers.close()
    assert gc.get_threshold() == before
