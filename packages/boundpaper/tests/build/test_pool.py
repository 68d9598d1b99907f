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
            workers.submit(pool_work.hang, folder)
        print(*(child.pid for child in active_children()), flush=True)
        time.sleep(1000)
"""


@contextmanager
def command(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Yield a command whose two pool workers ignore signals once started, and the workers' process ids."""
    (folder / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "program.py", str(folder)]
    with subprocess.Popen(
        argv, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        try:
            assert program.stdout is not None
            yield program, [int(number) for number in program.stdout.readline().split()]
        finally:
            program.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_idle_workers_end_when_their_command_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    with command(tmp_path) as (program, workers):
        assert len(workers) == 2
        until(lambda: all((tmp_path / str(worker)).exists() for worker in workers))
        program.send_signal(number)
        program.wait()
        until(lambda: all(gone(worker) for worker in workers))


def test_starting_workers_end_when_their_command_is_killed(tmp_path: Path) -> None:
    """Starting workers do not yet watch their parent; the watchman, a process that knows them, ends them."""
    with command(tmp_path) as (program, workers):
        program.kill()
        program.wait()
        until(lambda: all(gone(worker) for worker in workers))
        time.sleep(0.2)
    assert not [name for name in os.listdir(tmp_path) if name.isdecimal()]


def test_watchdog_forgets_a_worker_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[tuple[str, int]] = []

    def recorder(sign: str) -> Callable[[int], None]:
        return lambda process: events.append((sign, process))

    monkeypatch.setattr(watchman, "watch_process", recorder("+"))
    monkeypatch.setattr(watchman, "forget_process", recorder("-"))
    with pool.process_pool(2) as workers:
        assert [call.result() for call in [workers.submit(pool_work.square, number) for number in (2, 3)]] == [4, 9]
    started = {process for sign, process in events if sign == "+"}
    assert started
    assert {process for sign, process in events if sign == "-"} == started
    assert not any(events.index(("-", process)) < events.index(("+", process)) for process in started)


def test_garbage_collection_is_rare_in_a_build_and_its_workers(tmp_path: Path) -> None:
    before, workers = gc.get_threshold(), pool.ProcessWorkers(1)
    with Session.opened(tmp_path):
        assert gc.get_threshold()[0] == pool.GC_THRESHOLD
        workers.begin()
        assert workers.result(workers.submit(gc.get_threshold))[0] == pool.GC_THRESHOLD
        workers.close()
    assert gc.get_threshold() == before


def test_call_is_made_by_a_worker_and_without_workers_by_this_process() -> None:
    workers = pool.ProcessWorkers(1)
    assert workers.call(os.getpid)() != os.getpid()
    workers.kill_all()
    assert [call() for call in (workers.call(os.getpid), pool.ProcessWorkers(0).call(os.getpid))] == [os.getpid()] * 2
