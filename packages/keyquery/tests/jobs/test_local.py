"""The local executor: a failed job affects no other, and no job outlives the command that started it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import jobs_work
from boundpaper.errors import ModelError, ThesisError
from keyquery.jobs.failure import JobDied
from keyquery.jobs.local import LocalExecutor, visible_gpus
from waiting import gone, until


def test_local_executor_returns_results_and_exceptions() -> None:
    with LocalExecutor(2) as executor:
        squared = executor.submit(jobs_work.square, 7)
        failed = executor.submit(jobs_work.fail, number=3)
        refused = executor.submit(jobs_work.refuse, "m")
        unpicklable = executor.submit(jobs_work.stubborn)
        without_input = executor.submit(jobs_work.reads_input)
        assert squared.result() == 49
        with pytest.raises(ZeroDivisionError):
            failed.result()
        with pytest.raises(ModelError, match="m: has no tokenizer"):
            refused.result()
        with pytest.raises(JobDied, match="Stubborn: 1 is not 2"):
            unpicklable.result()
        assert without_input.result() == ""


def test_killed_job_does_not_affect_other_jobs() -> None:
    with LocalExecutor() as executor:
        killed, crashed, ended = (executor.submit(jobs_work.die, how) for how in ("kill", "crash", "exit"))
        next_job = executor.submit(jobs_work.square, 2)
        with pytest.raises(JobDied, match=r"ended by SIGKILL \(out of memory\? see `dmesg`\)\nlast words"):
            killed.result()
        with pytest.raises(JobDied, match="ended by SIGSEGV"):
            crashed.result()
        with pytest.raises(JobDied, match="exited with status 7"):
            ended.result()
        assert next_job.result() == 4


def test_unpicklable_job_is_refused_at_once() -> None:
    with LocalExecutor() as executor, pytest.raises(ThesisError, match="cannot be sent to another process"):
        executor.submit(lambda: None)


def test_error_in_the_executor_block_ends_jobs_and_their_children(tmp_path: Path) -> None:
    pid_file, child_file = tmp_path / "beat", tmp_path / "beat.grandchild"
    with pytest.raises(KeyboardInterrupt), LocalExecutor() as executor:  # noqa: PT012
        running = executor.submit(jobs_work.beating, pid_file)
        waiting = executor.submit(jobs_work.square, 2)
        until(lambda: pid_file.exists() and child_file.exists())
        raise KeyboardInterrupt
    assert isinstance(running.exception(), JobDied)
    assert waiting.cancelled()
    until(lambda: gone(int(pid_file.read_text())) and gone(int(child_file.read_text())))


def kill_command(task: str, pid_file: Path, *other_files: Path) -> None:
    """Kill a command whose only job runs `task`, once the job and its children have written their files."""
    program = (
        "import jobs_work; from pathlib import Path; from keyquery.jobs.local import LocalExecutor\n"
        f"with LocalExecutor() as executor: executor.submit(jobs_work.{task}, Path({str(pid_file)!r})).result()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = subprocess.Popen([sys.executable, "-c", program], env=environment)
    try:
        until(lambda: all(file.exists() for file in (pid_file, *other_files)))
    finally:
        os.kill(command.pid, signal.SIGKILL)
        command.wait()


def test_jobs_end_when_their_command_is_killed(tmp_path: Path) -> None:
    pid_file, child_file = tmp_path / "beat", tmp_path / "beat.grandchild"
    kill_command("beating", pid_file, child_file)
    until(lambda: gone(int(pid_file.read_text())) and gone(int(child_file.read_text())))


def test_job_that_ignores_signals_ends_when_its_command_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "beat"
    kill_command("deaf", pid_file)
    until(lambda: gone(int(pid_file.read_text())))


def test_job_interpreter_starts_only_after_the_watchman_knows_it(tmp_path: Path) -> None:
    """If a command is killed while it notifies the watchman, no orphaned job starts."""
    program = (
        "import os, sys, time, jobs_work\nfrom boundpaper.build import watchman\nfrom keyquery.jobs.local import "
        "LocalExecutor\ndef watch_slowly(group):\n    time.sleep(0.5)\n    print(group, "
        "open(f'/proc/{group}/cmdline').read().split(chr(0))[0], flush=True)\n    time.sleep(1000)\nwatchman.watch = "
        "watch_slowly\nLocalExecutor().submit(jobs_work.square, 2).result()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout is not None
        job, program_name = command.stdout.readline().split()
        command.kill()
    assert program_name == "/bin/sh"
    until(lambda: gone(int(job)))


def fake_gpus(folder: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nseq 0 {count - 1}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_every_job_process_gets_its_own_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpus(tmp_path, 2, monkeypatch)
    assert visible_gpus() == ["0", "1"]
    with LocalExecutor("gpu") as executor:
        assert executor.workers == 2
        environments = [executor.submit(jobs_work.environment, "CUDA_VISIBLE_DEVICES") for _ in range(2)]
        assert {environment.result() for environment in environments} == {"0", "1"}
    with LocalExecutor(1, gpus=2) as executor:
        assert executor.submit(jobs_work.environment, "CUDA_VISIBLE_DEVICES").result() == "0,1"
    with LocalExecutor(1, gpus=0) as executor:
        assert executor.submit(jobs_work.environment, "CUDA_VISIBLE_DEVICES").result() == ""
    with pytest.raises(ThesisError, match="2 jobs with 2 GPUs each need more GPUs than this machine's 2"):
        LocalExecutor(2, gpus=2)


def test_visible_gpus_are_those_the_user_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-1f,5")
    assert visible_gpus() == ["3", "GPU-1f", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with pytest.raises(ThesisError, match="too few GPUs: a job needs 1, but this machine shows only 0"):
        LocalExecutor("gpu")


def test_threads_are_divided_among_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for workers, cpus, user_value, expected in (
        (1, None, None, None),
        (4, None, None, "2"),
        (4, None, "5", "5"),
        (4, 3, "5", "3"),
    ):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if user_value:
            monkeypatch.setenv("OMP_NUM_THREADS", user_value)
        with LocalExecutor(workers, cpus=cpus) as executor:
            assert executor.submit(jobs_work.environment, "OMP_NUM_THREADS").result() == expected
